/** Preferences and notifications of the person. */
import { client } from "../api.ts";
import { attempt, tell } from "../notices.ts";
import { chat, settings } from "../store.ts";
import { Setting, type SettingRow, type Value } from "./fields.tsx";
import { EntryForm } from "./forms.tsx";

type Change = Parameters<typeof client.call<"PATCH /settings">>[1];

const preferences: readonly SettingRow[] = [
  {
    name: "color_scheme",
    label: "Theme",
    choices: [
      [1, "As the system"],
      [3, "Light"],
      [2, "Dark"],
    ],
  },
  { name: "web_font_size_px", label: "Size of text in pixels", type: "number" },
  { name: "twenty_four_hour_time", label: "Times with 24 hours" },
  { name: "enter_sends", label: "Enter sends a message", note: "Shift Enter begins a line" },
  { name: "web_navigate_to_sent_message", label: "Show the conversation after sending" },
  {
    name: "web_mark_read_on_scroll_policy",
    label: "Mark messages as read while scrolling",
    choices: [
      [1, "Always"],
      [2, "Only in conversations"],
      [3, "Never"],
    ],
  },
  { name: "presence_enabled", label: "Show others when I am here" },
  { name: "send_private_typing_notifications", label: "Tell people that I am typing to them" },
  { name: "send_stream_typing_notifications", label: "Tell channels that I am typing" },
  { name: "receives_typing_notifications", label: "Show who is typing" },
  { name: "send_read_receipts", label: "Show others what I have read" },
];

const notifications: readonly SettingRow[] = [
  {
    name: "enable_desktop_notifications",
    label: "Direct messages, mentions and alert words",
    note: "On this computer",
  },
  {
    name: "enable_stream_desktop_notifications",
    label: "All messages in channels",
    note: "A channel can have its own choice",
  },
  { name: "pm_content_in_desktop_notifications", label: "Show the text of direct messages" },
  { name: "wildcard_mentions_notify", label: "Mentions of everybody notify me" },
  { name: "enable_offline_email_notifications", label: "Email about missed direct messages and mentions" },
  { name: "enable_stream_email_notifications", label: "Email about all messages in channels" },
  { name: "message_content_in_email_notifications", label: "Emails contain the text" },
  { name: "enable_login_emails", label: "Email about new logins" },
  {
    name: "automatically_follow_topics_policy",
    label: "Follow topics",
    choices: [
      [1, "That I take part in"],
      [2, "That I write in"],
      [3, "That I start"],
      [4, "Never by themselves"],
    ],
  },
];

function Rows({ rows }: { readonly rows: readonly SettingRow[] }) {
  const values = settings.value as Readonly<Record<string, Value | null>> | undefined;
  return (
    <>
      {rows.map((row) => (
        <Setting
          key={row.name}
          row={row}
          value={values?.[row.name]}
          save={(value) => client.call("PATCH /settings", { [row.name]: value } as NonNullable<Change>)}
        />
      ))}
    </>
  );
}

export function PreferencePanel() {
  return (
    <>
      <h2>Preferences</h2>
      <Rows rows={preferences} />
    </>
  );
}

function AlertWords() {
  const words = chat.value?.alert_words ?? [];
  return (
    <>
      <h3>Alert words</h3>
      <p class="quiet">A message that has one of them notifies you as a mention does.</p>
      <ul>
        {words.map((word) => (
          <li class="setting" key={word}>
            <span>{word}</span>
            <button
              type="button"
              aria-label={`Remove ${word}`}
              onClick={() =>
                attempt("The word was not removed", () =>
                  client.call("DELETE /users/me/alert_words", { alert_words: [word] }),
                )
              }
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      <EntryForm
        title="Add an alert word"
        action="Add"
        failure="The word was not added"
        submit={(data) => client.call("POST /users/me/alert_words", { alert_words: [String(data.get("word"))] })}
      >
        <label>
          Word
          <input name="word" required maxLength={100} />
        </label>
      </EntryForm>
    </>
  );
}

/** Must be called by a click: browsers ask the person only then. */
async function allowNotifications(): Promise<boolean> {
  return "Notification" in window && (await Notification.requestPermission()) === "granted";
}

export function NotificationPanel() {
  const isPossible = "Notification" in window;
  const allow = async () => {
    tell((await allowNotifications()) ? "Notifications are on." : "The browser does not allow notifications.");
  };
  return (
    <>
      <h2>Notifications</h2>
      {isPossible && Notification.permission !== "granted" ? (
        <p>
          <button type="button" class="primary" onClick={allow}>
            Allow notifications in this browser
          </button>
        </p>
      ) : null}
      {chat.value?.server_sends_email === false ? (
        <p class="quiet">This server has no mail server, so emails reach nobody.</p>
      ) : null}
      <Rows rows={notifications} />
      <AlertWords />
    </>
  );
}
