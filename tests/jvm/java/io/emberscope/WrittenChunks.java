package io.emberscope;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/**
 * Writes the chunks that standard input describes, and prints each in base64. A line is words with blanks between, texts in
 * base64 ("-" for null). See the test for the words.
 */
public final class WrittenChunks {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        FlightFileWriter writer = null;
        List<Integer> stacks = new ArrayList<>();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            long[] numbers = new long[words.length];
            for (int i = 1; i < words.length; i++) {
                numbers[i] = words[i].matches("-?\\d+") ? Long.parseLong(words[i]) : 0;
            }
            switch (words[0]) {
                case "begin":
                    writer = new FlightFileWriter(numbers[1], numbers[2]);
                    stacks.clear();
                    break;
                case "stack":
                    StackTraceElement[] stack = new StackTraceElement[(words.length - 2) / 3];
                    for (int i = 0; i < stack.length; i++) {
                        int at = 2 + 3 * i;
                        stack[i] = new StackTraceElement(text(words[at]), text(words[at + 1]), "F.java", (int) numbers[at + 2]);
                    }
                    stacks.add(writer.stack(stack, numbers[1] == 1));
                    break;
                case "sample":
                    writer.wallSample(numbers[1], numbers[2], text(words[3]), WallState.valueOf(words[4]),
                            stacks.get((int) numbers[5]), (int) numbers[6], numbers[7], numbers[8]);
                    break;
                case "task":
                    TaskSpans.Task task = new TaskSpans.Task();
                    task.startTime = numbers[1];
                    task.threadId = numbers[2];
                    task.threadName = text(words[3]);
                    task.stageId = (int) numbers[4];
                    task.stageAttempt = (int) numbers[5];
                    task.taskId = numbers[6];
                    task.attempt = (int) numbers[7];
                    task.partition = (int) numbers[8];
                    task.sqlExecutionId = numbers[9];
                    task.jobGroup = text(words[10]);
                    task.description = text(words[11]);
                    task.cpuStartNs = numbers[12];
                    if (words.length == 13) {
                        writer.taskStart(task);
                    } else {
                        task.cpuEndNs = numbers[15];
                        writer.taskSpan(task, numbers[13], text(words[14]));
                    }
                    break;
                case "keep":
                    writer.finish(numbers[1]);
                    break;
                default:
                    byte[] chunk = writer.finish(numbers[1]);
                    if (!Arrays.equals(chunk, writer.finish(numbers[1]))) {
                        throw new IllegalStateException("what was written is in the chunk the second time");
                    }
                    System.out.println(writer.bytes() + " " + Base64.getEncoder().encodeToString(chunk));
                    System.out.flush();
            }
        }
    }

    private static String text(String word) {
        return word.equals("-") ? null : new String(Base64.getDecoder().decode(word.substring(1)), StandardCharsets.UTF_8);
    }
}
