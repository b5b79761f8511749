/** Dialogs about one message: delete, move, edit history, read receipts, reaction. */
import { useEffect, useState } from "preact/hooks";
import type { Message } from "../../../client/src/api/index.ts";
import { messageDialog, toggleReaction } from "../actions.ts";
import { client, explain } from "../api.ts";
import { go } from "../navigation.ts";
import { tell } from "../notices.ts";
import { topicNarrow } from "../state/narrow.ts";
import { channelName, channels, chat, nameOf, topicLabel, topicNamed } from "../store.ts";
import { fullTime } from "../time.ts";
import { Dialog } from "./dialog.tsx";
import { EmojiPicker } from "./emoji-picker.tsx";
import { Avatar, Html, Problem, useAttempt } from "./parts.tsx";

interface Props {
  readonly message: Message;
  readonly onClose: () => void;
}

function Delete({ message, onClose }: Props) {
  const { problem, isBusy, run } = useAttempt("The message was not deleted");
  const remove = async () => {
    if (!(await run(() => client.call("DELETE /messages/{message_id}", { message_id: message.id })))) return;
    onClose();
    tell("The message is deleted.");
  };
  return (
    <Dialog title="Delete this message?" onClose={onClose}>
      <Html html={message.content} class="rendered quoted" />
      <p>It is deleted for everybody, and cannot be brought back.</p>
      <Problem text={problem} />
      <div class="buttons">
        <button type="button" class="danger" aria-disabled={isBusy} onClick={remove}>
          Delete
        </button>
        <button type="button" onClick={onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}

type Mode = "change_one" | "change_later" | "change_all";

const modes: readonly { readonly mode: Mode; readonly label: string }[] = [
  { mode: "change_all", label: "The whole topic" },
  { mode: "change_later", label: "This message and later ones" },
  { mode: "change_one", label: "Only this message" },
];

function Move({ message, onClose }: Props) {
  const [channelId, setChannelId] = useState(message.stream_id ?? 0);
  const [topic, setTopic] = useState(message.subject);
  const [mode, setMode] = useState<Mode>("change_all");
  const [isNoted, setNoted] = useState(true);
  const { problem, isBusy, run } = useAttempt("Nothing was moved");
  const targets = [...channels.value.values()]
    .filter(({ stream_id: id, is_archived: isArchived }) => !isArchived || id === channelId)
    .sort((a, b) => a.name.localeCompare(b.name));
  const move = async (event: Event) => {
    event.preventDefault();
    const named = topicNamed(topic);
    const isDone = await run(() =>
      client.call("PATCH /messages/{message_id}", {
        message_id: message.id,
        propagate_mode: mode,
        send_notification_to_old_thread: isNoted,
        send_notification_to_new_thread: isNoted,
        ...(named === message.subject ? {} : { topic: named }),
        ...(channelId === message.stream_id ? {} : { stream_id: channelId }),
      }),
    );
    if (!isDone) return;
    onClose();
    tell(`Moved to #${channelName(channelId) ?? ""} > ${topicLabel(named)}.`);
    if (mode !== "change_one") go(topicNarrow(channelId, named, message.id));
  };
  return (
    <Dialog title="Move messages" onClose={onClose}>
      <form class="fields" onSubmit={move}>
        <label>
          Channel
          <select value={channelId} onChange={(event) => setChannelId(Number(event.currentTarget.value))}>
            {targets.map(({ stream_id: id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Topic
          <input
            data-first
            value={topic}
            maxLength={chat.value?.max_topic_length ?? 60}
            placeholder={topicLabel("")}
            onInput={(event) => setTopic(event.currentTarget.value)}
          />
        </label>
        <fieldset>
          <legend>What moves</legend>
          {modes.map(({ mode: value, label }) => (
            <label class="check" key={value}>
              <input type="radio" name="mode" checked={mode === value} onChange={() => setMode(value)} />
              {label}
            </label>
          ))}
        </fieldset>
        <label class="check">
          <input type="checkbox" checked={isNoted} onChange={() => setNoted(!isNoted)} />
          Leave a note in both topics
        </label>
        <Problem text={problem} />
        <div class="buttons">
          <button
            type="submit"
            class="primary"
            disabled={topicNamed(topic) === message.subject && channelId === message.stream_id}
            aria-disabled={isBusy}
          >
            Move
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Runs a request when a dialog opens. */
function useAnswer<T>(ask: () => Promise<T>): { readonly answer: T | null; readonly problem: string | null } {
  const [answer, setAnswer] = useState<T | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    ask().then(
      (value) => setAnswer(value),
      (error) => setProblem(explain(error)),
    );
  }, []);
  return { answer, problem };
}

function History({ message, onClose }: Props) {
  const { answer, problem } = useAnswer(() =>
    client.call("GET /messages/{message_id}/history", { message_id: message.id, allow_empty_topic_name: true }),
  );
  return (
    <Dialog title="Edit history" onClose={onClose} class="wide">
      <Problem text={problem} />
      {answer === null && problem === null ? <p class="waiting">Loading the history</p> : null}
      <ol class="history">
        {[...(answer?.message_history ?? [])].reverse().map((entry) => (
          <li key={entry.timestamp}>
            <p class="quiet">
              {nameOf(entry.user_id)}, {fullTime(entry.timestamp)}
            </p>
            {entry.prev_topic === undefined ? null : (
              <p>
                Topic: <del>{topicLabel(entry.prev_topic)}</del> <ins>{topicLabel(entry.topic)}</ins>
              </p>
            )}
            {entry.prev_stream === undefined ? null : (
              <p>
                Channel: <del>{channelName(entry.prev_stream)}</del> <ins>{channelName(entry.stream ?? 0)}</ins>
              </p>
            )}
            <Html html={entry.content_html_diff ?? entry.rendered_content} class="rendered quoted" />
          </li>
        ))}
      </ol>
    </Dialog>
  );
}

function Receipts({ message, onClose }: Props) {
  const { answer, problem } = useAnswer(() =>
    client.call("GET /messages/{message_id}/read_receipts", { message_id: message.id }),
  );
  return (
    <Dialog title="Read by" onClose={onClose}>
      <Problem text={problem} />
      {answer === null && problem === null ? <p class="waiting">Loading</p> : null}
      {answer?.user_ids.length === 0 ? <p>Nobody else has read it yet.</p> : null}
      <ul class="people">
        {answer?.user_ids.map((userId) => (
          <li class="person" key={userId}>
            <Avatar userId={userId} size="small" /> {nameOf(userId)}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

const dialogs = { delete: Delete, move: Move, history: History, receipts: Receipts } as const;

export function MessageDialogs() {
  const { value } = messageDialog;
  if (value === null) return null;
  const close = () => {
    messageDialog.value = null;
  };
  const { kind, message } = value;
  if (kind === "react") return <EmojiPicker onClose={close} onPick={(emoji) => toggleReaction(message, emoji)} />;
  const Shown = dialogs[kind];
  return <Shown message={message} onClose={close} />;
}
