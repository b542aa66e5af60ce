import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Prints the facts of every setting that one version of Spark registers, a line each, as JSON. It is started with
 * Spark's jars on the class path; types and ranges are found by asking each setting's own converter.
 */
public final class SparkSettings {
    // The objects that hold settings; loading one registers them.
    private static final Pattern HOLDERS = Pattern.compile(
            "org/apache/spark/(internal/config/.*\\$|sql/internal/(Static)?SQLConf\\$|sql/hive/HiveUtils\\$"
                    + "|deploy/k8s/Config\\$|deploy/yarn/config/package\\$|deploy/yarn/.*config.*\\$"
                    + "|deploy/history/.*\\$|sql/connect/config/.*\\$|streaming/StreamingConf\\$|SparkConf\\$"
                    + "|sql/avro/AvroOptions\\$|.*/config/package\\$)\\.class");
    private static final Pattern OPTIONS = Pattern.compile("one of ([^.\\n]*?)(?:,? but was |\\. |\\.$|$)");

    private SparkSettings() {}

    public static void main(String[] arguments) throws Exception {
        for (String path : arguments) {
            load(path);
        }
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Map<String, Object> known = new TreeMap<>();
        Object configs = Class.forName("org.apache.spark.internal.config.ConfigEntry$").getField("MODULE$").get(null);
        Map<?, ?> registered = (Map<?, ?>) invoke(configs, "knownConfigs");
        registered.forEach((key, entry) -> known.put((String) key, entry));
        Set<String> fixed = ofObject("org.apache.spark.sql.internal.StaticSQLConf$");
        for (Map.Entry<String, Object> setting : known.entrySet()) {
            out.println(line(setting.getKey(), setting.getValue(), fixed));
        }
        deprecated(out);
    }

    private static void load(String path) throws Exception {
        try (JarFile jar = new JarFile(path)) {
            for (Enumeration<JarEntry> entries = jar.entries(); entries.hasMoreElements();) {
                String name = entries.nextElement().getName();
                if (!HOLDERS.matcher(name).matches()) {
                    continue;
                }
                try {
                    Class.forName(name.substring(0, name.length() - 6).replace('/', '.'));
                } catch (Throwable error) {
                    System.err.println(name + ": " + error);
                }
            }
        }
    }

    private static Set<String> ofObject(String name) throws Exception {
        Set<String> keys = new TreeSet<>();
        Object object = Class.forName(name).getField("MODULE$").get(null);
        for (Method method : object.getClass().getMethods()) {
            if (method.getParameterCount() == 0 && method.getReturnType().getSimpleName().contains("ConfigEntry")) {
                keys.add((String) invoke(method.invoke(object), "key"));
            }
        }
        return keys;
    }

    private static String line(String key, Object entry, Set<String> fixed) throws Exception {
        StringBuilder text = new StringBuilder("{\"key\":").append(quoted(key));
        text.append(",\"since\":").append(quoted(value(entry, "version")));
        text.append(",\"public\":").append(invoke(entry, "isPublic"));
        text.append(",\"static\":").append(!key.startsWith("spark.sql.") || fixed.contains(key));
        text.append(",\"alternatives\":").append(list(invoke(entry, "alternatives")));
        text.append(",\"default\":").append(quoted(value(entry, "defaultValueString")));
        Object converter;
        try {
            converter = invoke(entry, "valueConverter");
        } catch (Exception error) {
            converter = null; // an entry that falls back on another one reads through that
        }
        text.append(",\"fallback\":").append(quoted(fallback(entry)));
        if (converter != null) {
            text.append(facts(converter));
        }
        return text.append("}").toString();
    }

    private static String fallback(Object entry) {
        try {
            Field field = entry.getClass().getDeclaredField("fallback");
            field.setAccessible(true);
            return (String) invoke(field.get(entry), "key");
        } catch (Exception error) {
            return "";
        }
    }

    /** What the converter makes of a few texts: enough to tell the type, the unit and the range. */
    private static String facts(Object converter) {
        StringBuilder text = new StringBuilder();
        String[] probes = {"true", "7", "1.5", "1g", "1h", "!?"};
        text.append(",\"probes\":{");
        for (int i = 0; i < probes.length; i++) {
            text.append(i > 0 ? "," : "").append(quoted(probes[i])).append(":").append(asked(converter, probes[i]));
        }
        text.append("},\"valid\":[");
        String[] numbers = {"-2147483648", "-2", "-1", "0", "1", "2", "3", "4", "5", "8", "10", "16", "20", "22", "32",
            "64", "100", "128", "200", "255", "256", "300", "365", "500", "512", "1000", "1024", "1025", "2047", "2048",
            "2049", "4096", "10000", "16384", "32767", "65535", "65536", "100000", "1000000", "2147483632",
            "2147483647", "0.0", "0.001", "0.01", "0.1", "0.25", "0.5", "0.9", "0.95", "0.999", "1.0", "1.001", "1.5",
            "2.0", "10.0", "1000.0", "-0.5"};
        String separator = "";
        for (String number : numbers) {
            if (!asked(converter, number).startsWith("{")) {
                text.append(separator).append(quoted(number));
                separator = ",";
            }
        }
        return text.append("]").toString();
    }

    private static String asked(Object converter, String text) {
        try {
            Method apply = null;
            for (Method method : converter.getClass().getMethods()) {
                if (method.getName().equals("apply") && method.getParameterCount() == 1) {
                    apply = method;
                }
            }
            apply.setAccessible(true);
            Object result = apply.invoke(converter, text);
            return quoted(kind(result) + ":" + result);
        } catch (Throwable error) {
            Throwable cause = error.getCause() == null ? error : error.getCause();
            Matcher found = OPTIONS.matcher(String.valueOf(cause.getMessage()));
            return "{\"error\":" + quoted(String.valueOf(cause.getMessage()))
                    + (found.find() ? ",\"options\":" + quoted(found.group(1)) : "") + "}";
        }
    }

    private static String kind(Object result) {
        if (result instanceof Boolean || result instanceof Number || result instanceof String) {
            return result.getClass().getSimpleName();
        }
        return result == null ? "null" : "other";
    }

    /** Names that Spark still reads, or warns of: kept in private maps of its configuration classes. */
    private static void deprecated(PrintStream out) throws Exception {
        Object conf = Class.forName("org.apache.spark.SparkConf$").getField("MODULE$").get(null);
        for (Field field : conf.getClass().getDeclaredFields()) {
            field.setAccessible(true);
            Object map = field.get(conf);
            if (field.getName().endsWith("deprecatedConfigs")) {
                for (Object old : iterable(map)) {
                    Object value = invoke(old, "_2");
                    out.println("{\"deprecated\":" + quoted(value(value, "key")) + ",\"in\":"
                            + quoted(value(value, "version")) + ",\"comment\":"
                            + quoted(value(value, "deprecationMessage")) + "}");
                }
            } else if (field.getName().endsWith("configsWithAlternatives")) {
                for (Object one : iterable(map)) {
                    for (Object other : iterable(invoke(one, "_2"))) {
                        out.println("{\"old\":" + quoted(value(other, "key")) + ",\"new\":" + quoted(value(one, "_1"))
                                + ",\"in\":" + quoted(value(other, "version")) + "}");
                    }
                }
            }
        }
        for (String holder : new String[] {"SQLConf$", "SQLConf"}) {
            Class<?> type = Class.forName("org.apache.spark.sql.internal." + holder);
            if (!holder.endsWith("$")) {
                continue;
            }
            Object object = type.getField("MODULE$").get(null);
            for (Method method : type.getMethods()) {
                boolean removed = method.getName().equals("removedSQLConfigs");
                if (!removed && !method.getName().equals("deprecatedSQLConfigs")) {
                    continue;
                }
                for (Object one : iterable(method.invoke(object))) {
                    Object value = invoke(one, "_2");
                    out.println("{\"" + (removed ? "removed" : "deprecated") + "\":" + quoted(value(value, "key"))
                            + ",\"in\":" + quoted(value(value, "version")) + ",\"comment\":"
                            + quoted(value(value, "comment")) + "}");
                }
            }
        }
    }

    private static List<Object> iterable(Object scala) throws Exception {
        List<Object> found = new ArrayList<>();
        if (scala instanceof Collection<?> collection) {
            found.addAll(collection);
            return found;
        }
        Object iterator = invoke(scala, "iterator");
        while ((Boolean) invoke(iterator, "hasNext")) {
            found.add(invoke(iterator, "next"));
        }
        return found;
    }

    private static String list(Object scala) throws Exception {
        StringBuilder text = new StringBuilder("[");
        for (Object one : iterable(scala)) {
            text.append(text.length() > 1 ? "," : "").append(quoted(String.valueOf(one)));
        }
        return text.append("]").toString();
    }

    private static String value(Object object, String name) {
        try {
            return String.valueOf(invoke(object, name));
        } catch (Exception error) {
            return "";
        }
    }

    private static Object invoke(Object object, String name) throws Exception {
        for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                if (method.getName().equals(name) && method.getParameterCount() == 0) {
                    method.setAccessible(true);
                    return method.invoke(object);
                }
            }
        }
        return object.getClass().getMethod(name).invoke(object);
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char letter : text.toCharArray()) {
            if (letter == '"' || letter == '\\') {
                quoted.append('\\').append(letter);
            } else if (letter < 32 || letter > 126) {
                quoted.append(String.format("\\u%04x", (int) letter));
            } else {
                quoted.append(letter);
            }
        }
        return quoted.append('"').toString();
    }
}
