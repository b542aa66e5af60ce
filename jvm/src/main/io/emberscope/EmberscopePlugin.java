package io.emberscope;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/** The recorder as Spark sees it: the class to name in {@code spark.plugins}. */
public final class EmberscopePlugin implements SparkPlugin {
    @Override
    public DriverPlugin driverPlugin() {
        return new DriverHooks();
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new ExecutorHooks();
    }
}
