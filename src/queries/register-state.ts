/**
 * The state returned by POST /register (behaviour 4.1): one section per event type, each a function of the view. A
 * client selects sections by `fetch_event_types`, else by `event_types`; by default it gets all.
 */

import type { View } from "../../domain/view.ts";
import type { MissingFeature, RegisterState, SectionName } from "../../schemas/register.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Sections, StateRequest } from "./state-section.ts";
import { unreadMessages } from "./unread.ts";

/** @param types null: all */
export function registerState(
  sections: Sections,
  view: View,
  user: UserRecord,
  types: readonly string[] | null,
  request: StateRequest,
): RegisterState {
  const wanted = types === null ? Object.keys(sections) : types;
  const state: RegisterState = {};
  for (const type of wanted) {
    // A client that requests both uses the newer one (behaviour 4.3).
    if (type === "muted_topics" && types?.includes("user_topic") === true) continue;
    if (isSection(sections, type)) Object.assign(state, sections[type](view, user, request));
  }
  const hasBoth = types === null || (types.includes("message") && types.includes("update_message_flags"));
  return hasBoth ? { ...state, unread_msgs: unreadMessages(view, user, request.allowsEmptyTopicName) } : state;
}

function isSection(sections: Sections, type: string): type is SectionName {
  return Object.hasOwn(sections, type);
}

/** Features that the server does not have: clients that ask for them learn that they are empty. */
export const emptySections: Pick<Sections, MissingFeature> = {
  realm_billing: () => ({ realm_billing: { has_pending_sponsorship_request: false } }),
  realm_embedded_bots: () => ({ realm_embedded_bots: [] }),
  realm_incoming_webhook_bots: () => ({ realm_incoming_webhook_bots: [] }),
  default_stream_groups: () => ({ realm_default_stream_groups: [] }),
  giphy: () => ({ giphy_api_key: "" }),
  onboarding_steps: () => ({ onboarding_steps: [], navigation_tour_video_url: null }),
  push_device: () => ({ push_devices: {} }),
  realm_filters: () => ({ realm_filters: [] }),
  stop_words: () => ({ stop_words: [] }),
  video_calls: () => ({ has_zoom_token: false }),
};
