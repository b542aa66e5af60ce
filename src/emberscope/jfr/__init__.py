"""Bytes of a JDK Flight Recorder file in, samples, stacks, frames, spans and series out."""
