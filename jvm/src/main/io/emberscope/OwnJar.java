package io.emberscope;

import java.io.File;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;

/**
 * Sees to it that executors find the plugin. Code that sets {@code spark.jars} itself takes our jar off that list but
 * leaves {@code spark.plugins}, and an executor that does not find a plugin does not start: the job would hang.
 */
final class OwnJar {
    /** The jars that executors fetch before they load plugins (since Spark 3.1); set before the driver's plugins start. */
    private static final String FETCHED_FIRST = "spark.app.initial.jar.urls";

    private OwnJar() {}

    /** Adds our jar to those that executors fetch first, where no setting says that they have it. */
    static void offerToExecutors(SparkContext spark, SparkConf conf) throws ReflectiveOperationException, URISyntaxException {
        File jar = new File(location());
        if (!jar.isFile() || isOffered(conf, jar, System.getenv("SPARK_HOME"))) {
            return;
        }
        spark.addJar(jar.getPath());
        // By reflection: the return type is another Seq in Scala 2.12 than in 2.13.
        Object urls = SparkContext.class.getMethod("listJars").invoke(spark);
        conf.set(FETCHED_FIRST, (String) urls.getClass().getMethod("mkString", String.class).invoke(urls, ","));
    }

    /** Whether a setting names the jar, or it lies among Spark's own, which are everywhere. */
    static boolean isOffered(SparkConf conf, File jar, String sparkHome) {
        for (String key : new String[] {FETCHED_FIRST, "spark.jars", "spark.executor.extraClassPath", "spark.yarn.dist.jars"}) {
            if (conf.get(key, "").contains(jar.getName())) {
                return true;
            }
        }
        return sparkHome != null && jar.getPath().startsWith(new File(sparkHome, "jars").getPath() + File.separator);
    }

    private static URI location() throws URISyntaxException {
        return OwnJar.class.getProtectionDomain().getCodeSource().getLocation().toURI();
    }
}
