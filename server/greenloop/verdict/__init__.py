"""Whether a pass is believed: acceptance in a fresh sandbox, the tamper check, and what the tests would miss."""
