package io.emberscope;

/**
 * An agent that does nothing: that it is there from the start ({@code -javaagent}) is what it is for.
 *
 * <p>Up to Java 22 Flight Recorder rewrites a few classes of the JDK when it starts. The first time that any class is
 * rewritten HotSpot throws away all that it has compiled, since it kept no account of what depends on what; with an
 * agent that may rewrite classes it keeps that account from the start, and throws away next to nothing.
 */
public final class RetransformAgent {
    private RetransformAgent() {}

    public static void premain(String options) {
        // The manifest of the jar has said it all: Can-Retransform-Classes.
    }
}
