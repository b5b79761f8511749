/** Reads channel folders (public API: get-channel-folders, register). */
import { channelFolderBody, channelFolders } from "../../domain/channel-folders.ts";
import type { View } from "../../domain/view.ts";
import type { Section } from "./state-section.ts";

export function listChannelFolders(view: View, includesArchived: boolean) {
  return channelFolders(view)
    .filter((folder) => includesArchived || !folder.isArchived)
    .map(channelFolderBody);
}

/** Includes archived folders (behaviour 2.5). */
export const channelFoldersState: Section<"channel_folders"> = (view) => ({
  channel_folders: listChannelFolders(view, true),
});
