/** Bounds of what a clock may do, and of what goes because of its age: a part of `schemas/limits.ts`, whose rules hold. */
export const timeLimits = {
  // The clock (D26)
  /** A clock that jumps ahead by more is believed only when it has stayed there for so long. */
  clock_leap_ms_max: 5 * 60 * 1000,
  clock_leap_lasting_ms: 2 * 60 * 1000,

  // Message retention: what one command looks at, and how often (M8)
  retention_messages_per_command: 100,
  retention_pause_ms_min: 60 * 60 * 1000,
  retention_pause_ms_max: 24 * 60 * 60 * 1000,
  /** Of all messages: after a jump of the clock, a round that would remove more waits for an operator. */
  retention_leap_percent_max: 25,
} as const;
