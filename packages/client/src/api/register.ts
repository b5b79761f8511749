/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { AlertWordsState } from "./alert-words.ts";
import type { BotsState } from "./bots.ts";
import type { ChannelFoldersState } from "./channel-folders.ts";
import type { ChannelsState } from "./channels.ts";
import type { DefaultChannelsState } from "./default-channels.ts";
import type { DraftsState } from "./drafts.ts";
import type { EmojiState } from "./emoji.ts";
import type { LinkifiersState } from "./linkifiers.ts";
import type { MessageFlagsState } from "./message-flags.ts";
import type { MessagesState } from "./messages.ts";
import type { MutedUsersState } from "./muted-users.ts";
import type { NavigationViewsState } from "./navigation-views.ts";
import type { PlaygroundsState } from "./playgrounds.ts";
import type { PresenceState } from "./presence.ts";
import type { ProfileFieldsState } from "./profile-fields.ts";
import type { RealmDomainsState } from "./realm-domains.ts";
import type { RealmState } from "./realm-state.ts";
import type { RemindersState } from "./reminders.ts";
import type { SavedSnippetsState } from "./saved-snippets.ts";
import type { ScheduledMessagesState } from "./scheduled-messages.ts";
import type { SettingsState } from "./settings.ts";
import type { StatusState } from "./status.ts";
import type { SubscriptionsState } from "./subscriptions.ts";
import type { UserGroupsState } from "./user-groups.ts";
import type { UserTopicsState } from "./user-topics.ts";
import type { UsersState } from "./users.ts";

export interface RegisterOperations {
  /** Creates an event queue and returns the state that its events will change. */
  "POST /register": {
    readonly params: {
      readonly apply_markdown?: boolean;
      readonly client_gravatar?: boolean;
      readonly include_subscribers?: "true" | "false" | "partial";
      readonly slim_presence?: boolean;
      readonly presence_history_limit_days?: number;
      readonly event_types?: readonly string[] | null;
      readonly fetch_event_types?: readonly string[] | null;
      readonly all_public_streams?: boolean;
      readonly client_capabilities?: Readonly<Record<string, boolean>> | null;
      readonly narrow?: readonly (readonly string[])[] | null;
      readonly queue_lifespan_secs?: number;
    };
    readonly result: {
      readonly queue_id: string;
      readonly last_event_id: number;
      readonly zulip_version: string;
      readonly zulip_merge_base: string;
      readonly zulip_feature_level: number;
      readonly idle_queue_timeout_secs: number;
      readonly unread_msgs?: {
        readonly count: number;
        readonly pms: readonly {
          readonly other_user_id: number;
          readonly sender_id: number;
          readonly unread_message_ids: readonly number[];
        }[];
        readonly streams: readonly {
          readonly stream_id: number;
          readonly topic: string;
          readonly unread_message_ids: readonly number[];
        }[];
        readonly huddles: readonly {
          readonly user_ids_string: string;
          readonly unread_message_ids: readonly number[];
        }[];
        readonly mentions: readonly number[];
        readonly old_unreads_missing: boolean;
      };
      readonly realm_billing?: { readonly has_pending_sponsorship_request: false };
      readonly realm_embedded_bots?: readonly string[];
      readonly realm_incoming_webhook_bots?: readonly string[];
      readonly realm_default_stream_groups?: readonly string[];
      readonly giphy_api_key?: "";
      readonly onboarding_steps?: readonly string[];
      readonly navigation_tour_video_url?: null;
      readonly push_devices?: Readonly<Record<never, never>>;
      readonly realm_filters?: readonly string[];
      readonly stop_words?: readonly string[];
      readonly has_zoom_token?: false;
    } & AlertWordsState &
      BotsState &
      ChannelFoldersState &
      ChannelsState &
      DefaultChannelsState &
      DraftsState &
      EmojiState &
      LinkifiersState &
      MessageFlagsState &
      MessagesState &
      MutedUsersState &
      NavigationViewsState &
      PlaygroundsState &
      PresenceState &
      ProfileFieldsState &
      RealmDomainsState &
      RemindersState &
      SavedSnippetsState &
      ScheduledMessagesState &
      SettingsState &
      StatusState &
      SubscriptionsState &
      UserGroupsState &
      UserTopicsState &
      UsersState &
      RealmState;
  };
  /** Returns the events of a queue after the given one; waits for the first if there is none yet. */
  "GET /events": {
    readonly params: { readonly queue_id: string; readonly last_event_id: number; readonly dont_block?: boolean };
    readonly result: { readonly events: readonly unknown[]; readonly queue_id?: string };
  };
}
