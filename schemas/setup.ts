/**
 * The first run: a person opens the link that the server prints, and the owner's account becomes theirs (D285).
 */
import { defineArea, defineCommands, defineTable } from "./area.ts";
import type { UserId } from "./ids.ts";

const limits = {
  /** Channels that a setup may create. */
  setup_channels_max: 3,
} as const;

/** The open setup of an organization. Its link is shown again at each start, so it is not stored as a hash (S2). */
export interface SetupRecord {
  readonly secret: string;
  /** The owner whose account is claimed. */
  readonly userId: UserId;
}

/** Parameters of its commands, by type. */
export interface SetupCommands {
  "realm.set-up": {
    readonly secret: string;
    readonly name: string;
    readonly fullName: string;
    readonly email: string;
    readonly passwordHash: string;
    /** Names of channels that everybody will be in; those that exist are left as they are. */
    readonly channelNames: readonly string[];
  };
}

export const setupArea = defineArea({
  commands: defineCommands<SetupCommands>(),
  tables: {
    /** At most one row. */
    setup: defineTable<"owner", SetupRecord>({ fields: ["secret", "userId"] }),
  },
  limits,
});
