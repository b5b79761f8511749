/**
 * Personal settings (spec 2.3) that the server acts on or that clients cannot start without, with the defaults of a new
 * person. A user's row stores only what differs. One row is one setting.
 */
export const userSettings = {
  receives_typing_notifications: { default: true },
  send_private_typing_notifications: { default: true },
  send_stream_typing_notifications: { default: true },
  presence_enabled: { default: true },
  translate_emoticons: { default: false },
  twenty_four_hour_time: { default: false },
  pm_content_in_desktop_notifications: { default: true },
  /** 1 everyone, 2 members, 3 administrators, 4 nobody, 5 moderators. */
  email_address_visibility: { default: 1 },
} as const;
export type UserSettingName = keyof typeof userSettings;
type Widened<T> = T extends boolean ? boolean : T extends number ? number : T;
export type UserSettingValue<N extends UserSettingName> = Widened<(typeof userSettings)[N]["default"]>;

export function userSetting<N extends UserSettingName>(
  user: { readonly settings: Readonly<Record<string, unknown>> },
  name: N,
): UserSettingValue<N> {
  return (user.settings[name] ?? userSettings[name].default) as UserSettingValue<N>;
}
