package io.emberscope;

import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Writes JSON from maps, lists, strings, numbers, booleans and null: all that manifests need. */
final class Json {
    private Json() {}

    static byte[] bytes(Map<String, ?> document) {
        StringBuilder out = new StringBuilder(512);
        value(out, document);
        return out.append('\n').toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void value(StringBuilder out, Object value) {
        if (value == null || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof Number) {
            double number = ((Number) value).doubleValue();
            out.append(Double.isNaN(number) || Double.isInfinite(number) ? "null" : value.toString());
        } else if (value instanceof Map) {
            String separator = "{";
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                out.append(separator);
                string(out, String.valueOf(entry.getKey()));
                out.append(": ");
                value(out, entry.getValue());
                separator = ", ";
            }
            out.append(((Map<?, ?>) value).isEmpty() ? "{}" : "}");
        } else if (value instanceof Iterable) {
            String separator = "[";
            for (Object element : (Iterable<?>) value) {
                out.append(separator);
                value(out, element);
                separator = ", ";
            }
            out.append(separator.equals("[") ? "[]" : "]");
        } else {
            string(out, value.toString());
        }
    }

    private static void string(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 0x20 || Character.isSurrogate(c) || c == 0x7f) {
                // Surrogates are escaped so that an unpaired one still gives valid UTF-8.
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
