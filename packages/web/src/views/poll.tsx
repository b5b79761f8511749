/** Polls and to-do lists: what the submessages of a message say, in their order. Other widgets show their text. */
import { useRef, useState } from "preact/hooks";
import type { Message } from "../../../client/src/api/index.ts";
import { client } from "../api.ts";
import { htmlOf } from "../content.ts";
import { attempt } from "../notices.ts";
import { type Option, type Task, type Widget, widgetOf } from "../state/widget.ts";
import { myId, nameOf } from "../store.ts";
import { Html } from "./parts.tsx";

const save = (message: Message, content: unknown) =>
  attempt("The server did not accept it", () =>
    client.call("POST /submessage", {
      message_id: message.id,
      msg_type: "widget",
      content: JSON.stringify(content),
    }),
  );

function Adder({ label, onAdd }: { readonly label: string; readonly onAdd: (text: string) => Promise<boolean> }) {
  const [text, setText] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    if (text.trim() === "") return;
    setText("");
    // What was refused comes back, unless something else has been typed since then.
    if (!(await onAdd(text.trim()))) setText((now) => (now === "" ? text : now));
  };
  return (
    <form class="widget-add" onSubmit={submit}>
      <input
        aria-label={label}
        placeholder={label}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit">Add</button>
    </form>
  );
}

/** Numbers that the person has not used yet in a widget: the one before may still be on its way. */
function useNumbers(): (used: readonly number[]) => number {
  const last = useRef(0);
  return (used) => {
    last.current = Math.max(last.current, ...used.filter(Number.isSafeInteger)) + 1;
    return last.current;
  };
}

function PollOption({ message, option, most }: { message: Message; option: Option; most: number }) {
  const isMine = option.voters.includes(myId.value);
  const count = option.voters.length;
  return (
    <li class="poll-option">
      <button
        type="button"
        class={`poll-vote ${isMine ? "mine" : ""}`}
        aria-pressed={isMine}
        aria-label={`Vote for ${option.text}: ${count} ${count === 1 ? "vote" : "votes"}`}
        onClick={() => save(message, { type: "vote", key: option.key, vote: isMine ? -1 : 1 })}
      >
        {count}
      </button>
      <span class="poll-text">
        {option.text}
        <span class="quiet"> {option.voters.map(nameOf).join(", ")}</span>
        <progress value={option.voters.length} max={Math.max(1, most)} aria-hidden="true" />
      </span>
    </li>
  );
}

function Poll({ message, widget }: { message: Message; widget: Extract<Widget, { kind: "poll" }> }) {
  const most = Math.max(...widget.options.map(({ voters }) => voters.length), 0);
  const numberAfter = useNumbers();
  const add = (text: string) => {
    const own = widget.options.filter(({ key }) => key.startsWith(`${myId.value},`));
    const idx = numberAfter(own.map(({ key }) => Number(key.split(",")[1])));
    return save(message, { type: "new_option", idx, option: text });
  };
  return (
    <section class="widget" aria-label="Poll">
      <h3>{widget.question === "" ? "Poll" : widget.question}</h3>
      <ul>
        {widget.options.map((option) => (
          <PollOption key={option.key} message={message} option={option} most={most} />
        ))}
      </ul>
      <Adder label="New option" onAdd={add} />
    </section>
  );
}

function TaskRow({ message, task }: { message: Message; task: Task }) {
  return (
    <li>
      <label class="check">
        <input
          type="checkbox"
          checked={task.isDone}
          onChange={() => save(message, { type: "strike", key: task.key })}
        />
        <span class={task.isDone ? "done" : ""}>
          {task.text} <span class="quiet">{task.note}</span>
        </span>
      </label>
    </li>
  );
}

function TodoList({ message, widget }: { message: Message; widget: Extract<Widget, { kind: "todo" }> }) {
  const numberAfter = useNumbers();
  const add = (task: string) => {
    const own = widget.tasks.filter(({ key }) => key.endsWith(`,${myId.value}`));
    const key = numberAfter(own.map((one) => Number(one.key.split(",")[0])));
    return save(message, { type: "new_task", key, task, desc: "", completed: false });
  };
  return (
    <section class="widget" aria-label="To-do list">
      <h3>{widget.title === "" ? "Task list" : widget.title}</h3>
      <ul>
        {widget.tasks.map((task) => (
          <TaskRow key={task.key} message={message} task={task} />
        ))}
      </ul>
      <Adder label="New task" onAdd={add} />
    </section>
  );
}

export function MessageWidget({ message }: { readonly message: Message }) {
  const widget = widgetOf(message);
  if (widget === null) {
    return (
      <div class="message-content">
        <Html html={htmlOf(message)} />
      </div>
    );
  }
  return widget.kind === "poll" ? (
    <Poll message={message} widget={widget} />
  ) : (
    <TodoList message={message} widget={widget} />
  );
}
