/** Message retention (spec 4.12): limits of its rounds. */
import { defineArea, defineCommands } from "./area.ts";

const limits = {
  retention_messages_per_command: 100,
  retention_pause_ms_min: 60 * 60 * 1000,
  retention_pause_ms_max: 24 * 60 * 60 * 1000,
  /** Percentage of all messages: after a clock jump, a round that would remove more waits for an operator. */
  retention_jump_percent_max: 25,
} as const;

/** Parameters of its commands, by type. */
export interface RetentionCommands {
  "retention.check": Record<string, never>;
  "retention.due": { readonly dueAt: number };
  "retention.sweep": Record<string, never>;
  "retention.abandon": Record<string, never>;
  "retention.confirm": Record<string, never>;
}

export const retentionArea = defineArea({
  commands: defineCommands<RetentionCommands>(),
  limits,
});
