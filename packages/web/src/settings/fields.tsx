/** Rows of settings: each saves when it is changed, and says what happened where it happened. */
import { useEffect, useRef, useState } from "preact/hooks";
import { explain } from "../api.ts";
import { groups } from "../store.ts";
import { Problem } from "../views/parts.tsx";

export type Value = boolean | number | string;

export interface SettingRow {
  readonly name: string;
  readonly label: string;
  readonly note?: string;
  /** Choices with their labels; without: a check box for booleans, a field for the rest. */
  readonly choices?: readonly (readonly [Value, string])[];
  readonly type?: "number" | "text" | "color" | "date" | "url";
  /** What to say instead of "Saved". */
  readonly done?: string;
}

interface Props {
  readonly row: SettingRow;
  readonly value: Value | null | undefined;
  readonly save: (value: Value) => Promise<unknown>;
}

interface FieldProps {
  readonly row: SettingRow;
  readonly value: Value | null | undefined;
  /** Resolves to whether it was saved. */
  readonly change: (next: Value) => Promise<boolean>;
}

/** Keeps what is typed until it is saved, whatever else changes on the screen meanwhile. */
function TextField({ row, value, change }: FieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const save = async (text: string) => {
    const isSaved = await change(row.type === "number" ? Number(text) : text);
    // What was typed since then is not saved yet.
    if (isSaved) setTyped((now) => (now === text ? null : now));
  };
  return (
    <input
      id={`setting-${row.name}`}
      type={(row.type ?? (typeof value === "number" ? "number" : "text")) as "text"}
      value={typed ?? String(value ?? "")}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onChange={(event) => void save(event.currentTarget.value)}
    />
  );
}

function fieldOf({ wanted, ...props }: FieldProps & { readonly wanted: Value | null }) {
  const { row, change } = props;
  const value = wanted ?? props.value;
  const id = `setting-${row.name}`;
  if (row.choices !== undefined) {
    const { choices } = row;
    return (
      <select
        id={id}
        value={String(value)}
        onChange={(event) => {
          const chosen = choices.find(([one]) => String(one) === event.currentTarget.value);
          if (chosen !== undefined) void change(chosen[0]);
        }}
      >
        {choices.some(([one]) => one === value) ? null : <option value={String(value)}>Custom</option>}
        {choices.map(([one, label]) => (
          <option key={String(one)} value={String(one)}>
            {label}
          </option>
        ))}
      </select>
    );
  }
  if (typeof value === "boolean") {
    return (
      <input id={id} type="checkbox" checked={value} onChange={(event) => void change(event.currentTarget.checked)} />
    );
  }
  return <TextField {...props} />;
}

export function Setting({ row, value, save }: Props) {
  const [problem, setProblem] = useState<string | null>(null);
  const [saving, setSaving] = useState("");
  /** What was chosen last, until the server's event says the same or something newer. */
  const [wanted, setWanted] = useState<Value | null>(null);
  const last = useRef<Promise<unknown>>(Promise.resolve());
  const changes = useRef({ begun: 0, ended: 0 });
  const refused = useRef<Value>("");
  useEffect(() => {
    if (changes.current.begun === changes.current.ended) setWanted(null);
  }, [value]);
  const change = async (next: Value) => {
    const number = ++changes.current.begun;
    setProblem(null);
    setSaving("Saving");
    setWanted(next);
    // One after the other: the last choice is the one that stays.
    const saved = last.current.then(() => save(next));
    last.current = saved.catch(() => undefined);
    const problem = await saved.then(
      () => null,
      (error) => `It was not saved: ${explain(error)}`,
    );
    changes.current.ended++;
    if (problem !== null) refused.current = next;
    if (number === changes.current.begun) {
      setSaving(problem === null ? (row.done ?? "Saved") : "");
      setProblem(problem);
    }
    return problem === null;
  };
  return (
    <div>
      <div class="setting">
        <label for={`setting-${row.name}`}>
          {row.label}
          {row.note === undefined ? null : <span class="quiet">{row.note}</span>}
        </label>
        <span class="setting-field">
          {saving === "" ? null : (
            <span class="saved" role="status">
              {saving}
            </span>
          )}
          {fieldOf({ row, value, wanted, change })}
        </span>
      </div>
      {problem === null ? null : (
        <div class="refused">
          <Problem text={problem} />
          <button type="button" onClick={() => void change(refused.current)}>
            Try again
          </button>
        </div>
      )}
    </div>
  );
}

const groupLabels: Readonly<Record<string, string>> = {
  "role:nobody": "Nobody",
  "role:owners": "Owners",
  "role:administrators": "Administrators",
  "role:moderators": "Moderators",
  "role:fullmembers": "Full members",
  "role:members": "Members",
  "role:everyone": "Everyone, guests too",
  "role:internet": "Everyone on the internet",
};

export function groupLabel(name: string): string {
  return groupLabels[name] ?? name;
}

/** The groups that may hold a permission, as choices. */
export function groupChoices(allowed?: readonly string[]): readonly (readonly [number, string])[] {
  return groups.value
    .filter(({ deactivated }) => !deactivated)
    .filter(
      ({ is_system_group: isSystem, name }) =>
        !isSystem || allowed === undefined || allowed.length === 0 || allowed.includes(name),
    )
    .filter(({ name }) => name !== "role:internet" || allowed?.includes(name) === true)
    .map(({ id, name }) => [id, groupLabel(name)] as const);
}

/** The words of a setting's name. */
export function wordsOf(name: string): string {
  const words = name
    .replace(/^can_/, "")
    .replace(/_group$/, "")
    .replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
