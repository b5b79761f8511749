/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface PushDevicesOperations {
  /** Registers an Apple device for push notifications. */
  "POST /users/me/apns_device_token": {
    readonly params: { readonly token: string; readonly appid: string };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Unregisters an Apple device. */
  "DELETE /users/me/apns_device_token": {
    readonly params: { readonly token: string };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Registers an Android device for push notifications. */
  "POST /users/me/android_gcm_reg_id": {
    readonly params: { readonly token: string };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Unregisters an Android device. */
  "DELETE /users/me/android_gcm_reg_id": {
    readonly params: { readonly token: string };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Sends a test notification to one of the caller's devices, or to all of them. */
  "POST /mobile_push/test_notification": {
    readonly params: { readonly token?: string };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Sends an encrypted test notification to one of the caller's devices, or to all of them. */
  "POST /mobile_push/e2ee/test_notification": {
    readonly params: { readonly push_account_id?: number };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Registers a device for encrypted notifications. */
  "POST /mobile_push/register": {
    readonly params: {
      readonly token_kind: "fcm" | "apns";
      readonly push_account_id: number;
      readonly push_public_key: string;
      readonly bouncer_public_key: string;
      readonly encrypted_push_registration: string;
    };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Assigns an id to the caller's device. */
  "POST /register_client_device": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly device_id: number };
  };
  /** Unregisters one of the caller's devices. */
  "POST /remove_client_device": {
    readonly params: { readonly device_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
}
