/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { ChannelFolder } from "./types.ts";
export interface ChannelFoldersOperations {
  /** Adds a channel folder at the end of the list (spec 4.5); organization administrators only. */
  "POST /channel_folders/create": {
    readonly params: { readonly name: string; readonly description: string };
    readonly result: { readonly channel_folder_id: number };
  };
  /** Returns the organization's channel folders in their order. */
  "GET /channel_folders": {
    readonly params: { readonly include_archived?: boolean };
    readonly result: { readonly channel_folders: readonly ChannelFolder[] };
  };
  /** Reorders the channel folders; each one must be named once, archived ones included. */
  "PATCH /channel_folders": {
    readonly params: { readonly order: readonly number[] };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Changes a channel folder's name or description, archives or unarchives it. Its channels stay in it. */
  "PATCH /channel_folders/{channel_folder_id}": {
    readonly params: {
      readonly channel_folder_id: number;
      readonly name?: string;
      readonly description?: string;
      readonly is_archived?: boolean;
    };
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface ChannelFoldersEvents {
  channel_folder:
    | {
        readonly type: "channel_folder";
        readonly id: number;
        readonly op: "add";
        readonly channel_folder: ChannelFolder;
      }
    | {
        readonly type: "channel_folder";
        readonly id: number;
        readonly op: "update";
        readonly channel_folder_id: number;
        readonly data: {
          readonly name?: string;
          readonly description?: string;
          readonly rendered_description?: string;
          readonly is_archived?: boolean;
        };
      }
    | {
        readonly type: "channel_folder";
        readonly id: number;
        readonly op: "reorder";
        readonly order: readonly number[];
      };
}

export interface ChannelFoldersState {
  readonly channel_folders?: readonly ChannelFolder[];
}
