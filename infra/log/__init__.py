"""The published log: RFC 6962 trees, signed notes, checkpoints, tiles and proofs; no Redis here.

Everything follows public specifications to the byte: RFC 6962 and RFC 9162 for hashes and proofs, C2SP
signed-note, tlog-checkpoint, tlog-tiles, tlog-proof and tlog-cosignature for texts and files.
"""
