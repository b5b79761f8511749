/** Channel folders (spec 4.5; behaviour 2.5). Names are unique within an organization, archived folders included. */

import { channelFolderBody, channelFolders } from "../../domain/channel-folders.ts";
import { isAdministrator } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelFolderRecord } from "../../schemas/channel-folders.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { Command } from "../protocol/commands.ts";
import { callerOf, done, type Outcome } from "../protocol/decide.ts";
import { effects } from "../protocol/effects.ts";
import { decideRecord } from "../protocol/record-machines.ts";
import { folderEvent, invalidFolder, isTaken, nameInUse, rendered } from "./channel-folder-changes.ts";
import { channelFolderRecords } from "./channel-folder-machine.ts";

/** POST /channel_folders/create. A new folder is appended to the order. */
export function createChannelFolder(_context: unknown, asked: Command<"channel-folder.create">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null || !isAdministrator(caller)) return refuse.administratorRequired();
  const { name, description } = asked.params;
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
export function changeChannelFolder(_context: unknown, asked: Command<"channel-folder.update">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null || !isAdministrator(caller)) return refuse.administratorRequired();
  const row = view.row("channelFolders", asked.params.folderId);
  if (row === undefined) return invalidFolder();
  return decideRecord(channelFolderRecords, { row, caller }, asked, view);
}

/** PATCH /channel_folders: the order must name every folder once, archived ones included. */
export function reorderChannelFolders(
  _context: unknown,
  asked: Command<"channel-folder.reorder">,
  view: View,
): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null || !isAdministrator(caller)) return refuse.administratorRequired();
  const { order } = asked.params;
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
  "channel-folder.create": createChannelFolder,
  "channel-folder.update": changeChannelFolder,
  "channel-folder.reorder": reorderChannelFolders,
} as const;
