/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { Bot } from "./types.ts";
export interface BotsOperations {
  /** Creates a bot owned by the caller. Its key is shown only once (S2). */
  "POST /bots": {
    readonly params: {
      readonly full_name: string;
      readonly short_name: string;
      readonly bot_type?: number;
      readonly payload_url?: string;
      readonly service_name?: string;
      readonly interface_type?: number;
      readonly default_sending_stream?: string;
      readonly default_events_register_stream?: string;
      readonly default_all_public_streams?: boolean;
    };
    readonly result: {
      readonly user_id: number;
      readonly email: string;
      readonly api_key: string;
      readonly avatar_url: string;
      readonly default_sending_stream: string | null;
      readonly default_events_register_stream: string | null;
      readonly default_all_public_streams: boolean;
    };
  };
  /** Returns the caller's active bots. `api_key` is empty, because a key is shown only when it is created (S2). */
  "GET /bots": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: {
      readonly bots: readonly {
        readonly user_id: number;
        readonly username: string;
        readonly full_name: string;
        readonly bot_type: number;
        readonly api_key: "";
        readonly avatar_url: string;
        readonly default_sending_stream: string | null;
        readonly default_events_register_stream: string | null;
        readonly default_all_public_streams: boolean;
      }[];
    };
  };
  /** Changes a bot; only its owner and administrators. Parameters that are absent keep their values; an empty channel name means none. */
  "PATCH /bots/{bot_id}": {
    readonly params: {
      readonly bot_id: number;
      readonly full_name?: string;
      readonly role?: number;
      readonly bot_owner_id?: number;
      readonly service_payload_url?: string;
      readonly service_interface?: number;
      readonly default_sending_stream?: string;
      readonly default_events_register_stream?: string;
      readonly default_all_public_streams?: boolean;
    };
    readonly result: {
      readonly full_name: string;
      readonly avatar_url: string;
      readonly service_interface: number | null;
      readonly service_payload_url: string | null;
      readonly bot_owner: string;
      readonly default_sending_stream: string | null;
      readonly default_events_register_stream: string | null;
      readonly default_all_public_streams: boolean;
    };
  };
  /** Deactivates a bot; only its owner and administrators. Its keys and queues become invalid at once. */
  "DELETE /bots/{bot_id}": {
    readonly params: { readonly bot_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Gives a bot a new key, shown only once; the previous keys become invalid at once. */
  "POST /bots/{bot_id}/api_key/regenerate": {
    readonly params: { readonly bot_id: number };
    readonly result: { readonly api_key: string };
  };
  /** Creates another key for a bot, shown only once; its existing keys stay valid. Only its owner and administrators. */
  "GET /bots/{bot_id}/api_key": {
    readonly params: { readonly bot_id: number };
    readonly result: { readonly api_key: string };
  };
}

export interface BotsState {
  readonly realm_bots?: readonly Bot[];
}
