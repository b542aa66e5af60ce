package io.emberscope;

/** Prints which of the first executors of an application are recorded, one character each. */
public final class ChosenExecutors {
    public static void main(String[] arguments) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
            boolean chosen = ExecutorHooks.chosen(arguments[0], String.valueOf(i), Double.parseDouble(arguments[1]));
            out.append(chosen ? '1' : '0');
        }
        System.out.println(out);
    }
}
