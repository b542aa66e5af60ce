package io.emberscope;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * What went wrong in the recorder, equal problems counted together. The recorder never logs: the job's output is not
 * ours. The driver writes the list to the file named by {@code spark.emberscope.status}; executors send theirs to it.
 */
final class Problems {
    /** More different problems than this are one line that says so. */
    private static final int MOST = 100;

    private static final int LONGEST = 500;

    /** One problem; {@code count} is how often it came, {@code told} how often the listener has heard of it. */
    static final class Problem {
        final String role;
        final String executorId;
        final String where;
        final String message;
        long count;
        long told;

        Problem(String role, String executorId, String where, String message) {
            this.role = role;
            this.executorId = executorId;
            this.where = where;
            this.message = message;
        }

        Map<String, Object> document(long times) {
            Map<String, Object> out = new LinkedHashMap<>();
            out.put("role", role);
            out.put("executor_id", executorId);
            out.put("where", where);
            out.put("message", message);
            out.put("count", times);
            return out;
        }
    }

    private final String role;
    private final String executorId;
    private final Map<String, Problem> byText = new LinkedHashMap<>();
    private volatile Consumer<Problems> listener = problems -> {};

    Problems(String role, String executorId) {
        this.role = role;
        this.executorId = executorId;
    }

    boolean isOfDriver() {
        return role.equals("driver");
    }

    /** Who hears of every new problem; called at once for those that are there already. */
    void listener(Consumer<Problems> heir) {
        listener = heir;
        tell();
    }

    /** Never throws: it is called where nothing else may go wrong. */
    void add(String where, Throwable error) {
        try {
            String message = error.getMessage();
            String name = error.getClass().getSimpleName();
            add(where, message == null ? name : name + ": " + message);
        } catch (Throwable hopeless) {
            // An exception whose message throws: nothing is left to say.
        }
    }

    void add(String where, String message) {
        add(role, executorId, where, message, 1);
    }

    void add(String fromRole, String fromExecutor, String where, String message, long times) {
        boolean isNew;
        synchronized (this) {
            String text = message.length() > LONGEST ? message.substring(0, LONGEST) + "…" : message;
            String key = fromRole + '\n' + fromExecutor + '\n' + where + '\n' + text;
            isNew = !byText.containsKey(key);
            if (isNew && byText.size() >= MOST) {
                where = "problems";
                text = "more than " + MOST + " different problems";
                key = where;
                isNew = !byText.containsKey(key);
            }
            Problem problem = byText.get(key);
            if (problem == null) {
                problem = new Problem(fromRole, fromExecutor, where, text);
                byText.put(key, problem);
            }
            problem.count += times;
        }
        if (isNew) {
            tell();
        }
    }

    /** Lets the listener hear of counts that grew. Never throws. */
    void tell() {
        try {
            listener.accept(this);
        } catch (Throwable unheard) {
            // A listener that fails (driver gone, disk full) must not add a problem: that would call it again.
        }
    }

    synchronized List<Map<String, Object>> documents() {
        List<Map<String, Object>> out = new ArrayList<>();
        for (Problem problem : byText.values()) {
            out.add(problem.document(problem.count));
        }
        return out;
    }

    /** Those of one process: a driver also has what its executors sent. */
    synchronized List<Map<String, Object>> documentsOf(String wantedRole, String wantedExecutor) {
        List<Map<String, Object>> out = new ArrayList<>();
        for (Problem problem : byText.values()) {
            if (problem.role.equals(wantedRole) && problem.executorId.equals(wantedExecutor)) {
                out.add(problem.document(problem.count));
            }
        }
        return out;
    }

    /** The growth since the last call, for the driver to add up. */
    synchronized List<Map<String, Object>> growth() {
        List<Map<String, Object>> out = new ArrayList<>();
        for (Problem problem : byText.values()) {
            if (problem.count > problem.told) {
                out.add(problem.document(problem.count - problem.told));
                problem.told = problem.count;
            }
        }
        return out;
    }
}
