"""Waveforms: what a result's vectors look like, and what two cursors read from them."""
