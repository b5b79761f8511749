/** Channel folders: rules for their names, and how clients see them (spec 2.10, 4.5; behaviour 2.5). */

import type { ChannelFolderRecord } from "../schemas/channel-folders.ts";
import { type Refusal, refuse } from "../schemas/errors.ts";
import { limits } from "../schemas/limits.ts";
import { checkCharacters, checkLines, codePoints } from "./text.ts";
import type { View } from "./view.ts";

/** All folders, in order. */
export function channelFolders(view: View): ChannelFolderRecord[] {
  const rows = view.rows("channelFolders", { limit: limits.channel_folders_per_realm_max });
  return rows.map(({ row }) => row).sort((a, b) => a.order - b.order);
}

/** null if the parameter was not sent. The realm actor decides whether a name is free. */
export function checkFolderTexts(name: string | null, description: string | null): Refusal | null {
  return (
    checkLength("name", name, limits.channel_folder_name_code_points_max) ??
    (name === null ? null : checkFolderName(name)) ??
    checkLength("description", description, limits.channel_folder_description_code_points_max) ??
    (description === null ? null : checkLines("description", description))
  );
}

function checkLength(parameter: string, text: string | null, codePointsMax: number): Refusal | null {
  if (text === null || codePoints(text) <= codePointsMax) return null;
  return refuse.badRequest(`${parameter} is too long (limit: ${codePointsMax} characters)`);
}

function checkFolderName(name: string): Refusal | null {
  if (name === "") return refuse.badRequest("Channel folder name can't be empty.");
  return checkCharacters("channel folder name", name);
}

export function channelFolderBody(folder: ChannelFolderRecord) {
  return {
    id: folder.id,
    name: folder.name,
    description: folder.description,
    rendered_description: folder.renderedDescription,
    creator_id: folder.creatorId,
    date_created: Math.floor(folder.createdAt / 1000),
    is_archived: folder.isArchived,
    order: folder.order,
  };
}
