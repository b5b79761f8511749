/** Commands of the operator for deliveries and commands that failed too often (D169). The table is in runtime.ts. */
import { defineArea, defineCommands } from "./area.ts";

/** Parameters of its commands, by type. */
export interface DeadLettersCommands {
  /** Makes the delivery due again, or runs the command again. */
  "dead-letter.retry": { readonly id: number };
  "dead-letter.drop": { readonly id: number };
}

export const deadLettersArea = defineArea({
  commands: defineCommands<DeadLettersCommands>(),
});
