/** The organization's settings about changing messages (D5), as they are at the moment; null: no limit. */
import type { View } from "./view.ts";

const weekS = 7 * 24 * 60 * 60;

const defaults = {
  allow_message_editing: true as boolean,
  message_content_edit_limit_seconds: 600 as number | null,
  message_content_delete_limit_seconds: 600 as number | null,
  move_messages_within_stream_limit_seconds: weekS as number | null,
  move_messages_between_streams_limit_seconds: weekS as number | null,
  message_edit_history_visibility_policy: "all" as "all" | "moves" | "none",
};
type MessageSettings = typeof defaults;

export function messageSetting<N extends keyof MessageSettings>(view: View, name: N): MessageSettings[N] {
  const stored = view.realm.settings[name];
  // What is stored under the name was checked when it was set.
  return stored === undefined ? defaults[name] : (stored as MessageSettings[N]);
}
