/** Channel folders (spec 4.5; behaviour 2.5). Names are unique within an organization, archived folders included. */

import { channelFolderBody, channelFolders } from "../../domain/channel-folders.ts";

import type { View } from "../../domain/view.ts";
import type { ChannelFolderRecord } from "../../schemas/channel-folders.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Command, done, effects, forAdministrator, type Outcome, type Params } from "../protocol/decision.ts";
import { decideRecord } from "../protocol/record-machines.ts";
import { folderEvent, invalidFolder, isTaken, nameInUse, rendered } from "./channel-folder-changes.ts";
import { channelFolderRecords } from "./channel-folder-machine.ts";

/** POST /channel_folders/create. A new folder is appended to the order. */
export function createChannelFolder(
  { name, description }: Params<"channel-folder.create">,
  view: View,
  caller: UserRecord,
): Outcome {
  const all = channelFolders(view);
  if (isTaken(all, name)) return nameInUse();
  if (all.length >= limits.channel_folders_per_realm_max) return refuse.badRequest("Too many channel folders");
  const id = view.counter("channelFolder") + 1;
  const folder: ChannelFolderRecord = {
    id,
    name,
    ...rendered(view, caller, description),
    creatorId: caller.id,
    createdAt: view.now,
    isArchived: false,
    order: all.length,
  };
  return done({ channel_folder_id: id }, [
    effects.setCounter("channelFolder", id),
    effects.put("channelFolders", id, folder),
    folderEvent({ op: "add", channel_folder: channelFolderBody(folder) }),
  ]);
}

/** PATCH /channel_folders/{id}, atomic. */
export function changeChannelFolder(
  params: Params<"channel-folder.update">,
  view: View,
  caller: UserRecord,
  command: Command<"channel-folder.update">,
): Outcome {
  const row = view.row("channelFolders", params.folderId);
  if (row === undefined) return invalidFolder();
  return decideRecord(channelFolderRecords, { row, caller }, command, view);
}

/** PATCH /channel_folders: the order must name every folder once, archived ones included. */
export function reorderChannelFolders({ order }: Params<"channel-folder.reorder">, view: View): Outcome {
  const all = channelFolders(view);
  const places = new Map(order.map((id, index) => [id, index]));
  const isExact = order.length === all.length && all.every(({ id }) => places.has(id));
  if (!isExact) return refuse.badRequest("Invalid order mapping");
  const moved = all
    .map((folder, index) => ({ index, folder: { ...folder, order: places.get(folder.id) ?? index } }))
    .filter(({ index, folder }) => folder.order !== index);
  if (moved.length === 0) return done({}, []);
  return done({}, [
    ...moved.map(({ folder }) => effects.put("channelFolders", folder.id, folder)),
    folderEvent({ op: "reorder", order }),
  ]);
}

export const channelFoldersDecisions = {
  "channel-folder.create": forAdministrator(createChannelFolder),
  "channel-folder.update": forAdministrator(changeChannelFolder),
  "channel-folder.reorder": forAdministrator(reorderChannelFolders),
} as const;
