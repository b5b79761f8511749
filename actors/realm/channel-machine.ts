/**
 * A channel (spec 3; behaviour 2.4). An archived channel keeps its name, subscribers and messages, and can be changed
 * and unarchived. Archiving is one command and one turn, whatever the channel holds, so there is no state in between.
 *
 *    open --channel.archive--> archived --channel.update, is_archived: false--> open
 *
 * For the commands of other actors an archived channel does not exist: `openChannel` (domain/permissions.ts).
 */
import { refuse } from "../../schemas/errors.ts";
import { decide, lead, reject, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import type { RecordMachine } from "../protocol/record-machines.ts";
import { archiveOpenChannel } from "./channel-archive.ts";
import { type ChannelContext, channelState } from "./channel-step.ts";
import { updateArchivedChannel, updateOpenChannel } from "./channel-updates.ts";
import { setDefault } from "./default-channels.ts";

const channelMachine = setupMachine<ChannelContext>().createMachine({
  id: "channel",
  context: ({ input }) => input,
  initial: "open",
  states: {
    open: {
      on: lead(
        decide<ChannelContext>({
          "channel.update": updateOpenChannel,
          "channel.archive": archiveOpenChannel,
          "default-channels.set": setDefault,
        }),
        { "channel.archive": { archived: "always" } },
      ),
    },
    archived: {
      on: {
        ...lead(decide<ChannelContext>({ "channel.update": updateArchivedChannel }), {
          "channel.update": { open: "is_archived is false" },
        }),
        ...reject(() => refuse.badRequest("Channel is already deactivated"), ["channel.archive"]),
        ...reject(refuse.invalidChannelId, ["default-channels.set"]),
      },
    },
  },
  on: rejectUnhandled,
});

export const channelRecords: RecordMachine<ChannelContext> = {
  machine: channelMachine,
  stateOf: channelState,
};
