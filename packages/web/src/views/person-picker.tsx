/** Chooses people by name: chosen ones are removable tags. */
import { useId, useState } from "preact/hooks";
import { best } from "../compose/completion.ts";
import { isForInputMethod } from "../input-methods.ts";
import { nameOf, type Person } from "../store.ts";
import { Avatar } from "./parts.tsx";

interface Props {
  readonly label: string;
  readonly users: readonly Person[];
  readonly chosen: readonly number[];
  readonly onChange: (userIds: readonly number[]) => void;
}

const offeredMax = 7;

export function PersonPicker({ label, users, chosen, onChange }: Props) {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const open = users.filter(({ user_id: userId }) => !chosen.includes(userId));
  const offered = isOpen ? best(open, ({ full_name: name }) => name, query, offeredMax) : [];
  const add = (userId: number) => {
    onChange([...chosen, userId]);
    setQuery("");
    setAt(0);
  };
  const press = (event: KeyboardEvent) => {
    if (isForInputMethod(event)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const candidate = offered[at];
    if (step !== undefined && offered.length > 0) setAt((at + step + offered.length) % offered.length);
    else if ((event.key === "Enter" || (event.key === "Tab" && query !== "")) && candidate !== undefined) {
      add(candidate.user_id);
    } else if (event.key === "Backspace" && query === "" && chosen.length > 0) onChange(chosen.slice(0, -1));
    else return;
    event.preventDefault();
  };
  return (
    <div class="person-picker">
      {chosen.map((userId) => (
        <span class="pill" key={userId}>
          {nameOf(userId)}
          <button
            type="button"
            aria-label={`Remove ${nameOf(userId)}`}
            onClick={() => onChange(chosen.filter((other) => other !== userId))}
          >
            ×
          </button>
        </span>
      ))}
      <input
        role="combobox"
        aria-label={label}
        aria-expanded={offered.length > 0}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={offered.length > 0 ? `${id}-${at}` : undefined}
        placeholder={chosen.length === 0 ? "Name of a person" : "Add a person"}
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setAt(0);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={press}
      />
      <div class="completion below" id={id} role="listbox" aria-label="People" hidden={offered.length === 0}>
        {offered.map((user, index) => (
          <div
            key={user.user_id}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            class={index === at ? "chosen" : ""}
            onPointerDown={(event) => {
              event.preventDefault();
              add(user.user_id);
            }}
          >
            <Avatar userId={user.user_id} size="small" />
            <span>{user.full_name}</span>
            <span class="quiet">{user.delivery_email}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
