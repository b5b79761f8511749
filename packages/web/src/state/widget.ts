/** What a poll or a to-do list shows: its first submessage, and the steps that follow. Malformed steps are skipped. */
import type { Message } from "../../../client/src/api/index.ts";

export interface Option {
  readonly key: string;
  readonly text: string;
  readonly voters: readonly number[];
}

export interface Task {
  readonly key: string;
  readonly text: string;
  readonly note: string;
  readonly isDone: boolean;
}

export type Widget =
  | { readonly kind: "poll"; readonly question: string; readonly options: readonly Option[] }
  | { readonly kind: "todo"; readonly title: string; readonly tasks: readonly Task[] };

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(content: string): Fields | null {
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
  } catch {
    return null;
  }
}

const textOf = (value: unknown) => (typeof value === "string" ? value : "");
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function firstOf(fields: Fields): Widget | null {
  const extra = (typeof fields["extra_data"] === "object" ? fields["extra_data"] : null) as Fields | null;
  if (fields["widget_type"] === "poll") {
    const texts = listOf(extra?.["options"]).map(textOf);
    const options = texts.flatMap((text, index) =>
      // An option that is named again keeps its first key, with which it was voted for.
      texts.indexOf(text) < index ? [] : [{ key: `canned,${index}`, text, voters: [] }],
    );
    return { kind: "poll", question: textOf(extra?.["question"]), options };
  }
  if (fields["widget_type"] !== "todo") return null;
  const tasks = listOf(extra?.["tasks"]).map((task, index) => {
    const { task: text, desc } = (task ?? {}) as Fields;
    return { key: `${index},canned`, text: textOf(text), note: textOf(desc), isDone: false };
  });
  return { kind: "todo", title: textOf(extra?.["task_list_title"]), tasks };
}

type Poll = Extract<Widget, { kind: "poll" }>;
type Todo = Extract<Widget, { kind: "todo" }>;

function pollStep(poll: Poll, senderId: number, step: Fields): Poll {
  switch (step["type"]) {
    case "question":
      return { ...poll, question: textOf(step["question"]) };
    case "new_option": {
      const option = { key: `${senderId},${String(step["idx"])}`, text: textOf(step["option"]), voters: [] };
      const isKnown = poll.options.some(({ key, text }) => key === option.key || text === option.text);
      return isKnown ? poll : { ...poll, options: [...poll.options, option] };
    }
    case "vote": {
      const options = poll.options.map((option) => {
        if (option.key !== step["key"]) return option;
        const others = option.voters.filter((id) => id !== senderId);
        return { ...option, voters: step["vote"] === 1 ? [...others, senderId] : others };
      });
      return { ...poll, options };
    }
    default:
      return poll;
  }
}

function todoStep(todo: Todo, senderId: number, step: Fields): Todo {
  switch (step["type"]) {
    case "new_task_list_title":
      return { ...todo, title: textOf(step["title"]) };
    case "new_task": {
      const key = `${String(step["key"])},${senderId}`;
      if (todo.tasks.some((task) => task.key === key)) return todo;
      const task = { key, text: textOf(step["task"]), note: textOf(step["desc"]), isDone: step["completed"] === true };
      return { ...todo, tasks: [...todo.tasks, task] };
    }
    case "strike":
      return {
        ...todo,
        tasks: todo.tasks.map((task) => (task.key === step["key"] ? { ...task, isDone: !task.isDone } : task)),
      };
    default:
      return todo;
  }
}

/** @returns null if the message is not a widget */
export function widgetOf({ submessages }: Pick<Message, "submessages">): Widget | null {
  const [first, ...steps] = submessages;
  const fields = first === undefined ? null : fieldsOf(first.content);
  let widget = fields === null ? null : firstOf(fields);
  for (const { sender_id: senderId, content } of steps) {
    const step = fieldsOf(content);
    if (widget === null || step === null) continue;
    widget = widget.kind === "poll" ? pollStep(widget, senderId, step) : todoStep(widget, senderId, step);
  }
  return widget;
}
