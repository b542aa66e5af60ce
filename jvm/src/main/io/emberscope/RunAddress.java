package io.emberscope;

/** Where a run lies: {@code <store>/<group>/<app id>/<attempt>}. */
final class RunAddress {
    final String appId;
    final String attempt;
    final String directory;

    /** {@code store} is a URI. */
    RunAddress(String store, String group, String appId, String attempt) {
        this.appId = appId;
        this.attempt = attempt;
        String base = store.replaceFirst("/+$", "");
        this.directory = base + "/" + safe(group) + "/" + safe(appId) + "/" + safe(attempt);
    }

    RunAddress(String appId, String attempt, String directory) {
        this.appId = appId;
        this.attempt = attempt;
        this.directory = directory;
    }

    /** A name as one component of a path. */
    static String safe(String name) {
        String out = name.replaceAll("[^A-Za-z0-9._-]", "_").replaceFirst("^\\.+", "_");
        return out.isEmpty() ? "_" : out;
    }
}
