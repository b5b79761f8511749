/**
 * A channel folder (spec 4.5; behaviour 2.5). An archived folder keeps its channels and can be changed, but no channel
 * can be put into it, when it is created or later.
 *
 *    active --channel-folder.update, is_archived: true--> archived --channel-folder.update, is_archived: false--> active
 */
import { decide, lead, permit, reject, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import type { RecordMachine } from "../protocol/record-machines.ts";
import { type ChannelFolderContext, folderState, invalidFolder, updateFolder } from "./channel-folder-changes.ts";

const changes = decide<ChannelFolderContext>({ "channel-folder.update": updateFolder });

/** Commands about a channel that name the folder. */
const putsChannel = ["channel.create", "channel.update"] as const;

const channelFolderMachine = setupMachine<ChannelFolderContext>().createMachine({
  id: "channel-folder",
  context: ({ input }) => input,
  initial: "active",
  states: {
    active: {
      on: {
        ...lead(changes, { "channel-folder.update": { archived: "is_archived is true" } }),
        ...permit(putsChannel),
      },
    },
    archived: {
      on: {
        ...lead(changes, { "channel-folder.update": { active: "is_archived is false" } }),
        ...reject(invalidFolder, putsChannel),
      },
    },
  },
  on: rejectUnhandled,
});

export const channelFolderRecords: RecordMachine<ChannelFolderContext> = {
  machine: channelFolderMachine,
  stateOf: folderState,
};
