/** Entries whose order counts: each is moved up, changed in its place, or removed after a question. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { attempt } from "../notices.ts";
import { ConfirmDialog, type Removal } from "./forms.tsx";

interface OrderedListProps<T> {
  readonly entries: readonly T[];
  readonly nameOf: (entry: T) => string;
  readonly show: (entry: T) => ComponentChildren;
  /** The form that changes an entry; `onDone` closes it. */
  readonly form: (entry: T, onDone: () => void) => ComponentChildren;
  readonly reorder: (ids: number[]) => Promise<unknown>;
  readonly removal: (entry: T) => Removal;
}

export function OrderedList<T extends { readonly id: number }>(props: OrderedListProps<T>) {
  const { entries, nameOf, show, form, reorder, removal } = props;
  const [edited, setEdited] = useState<number | null>(null);
  const [removed, setRemoved] = useState<T | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const before = useRef<number | null>(null);
  // The button that was pressed is gone: what came for it has the focus.
  useLayoutEffect(() => {
    const id = edited ?? before.current;
    before.current = edited;
    const line = id === null ? null : list.current?.querySelector(`[data-entry="${id}"]`);
    line?.querySelector<HTMLElement>("input, textarea, select, .change")?.focus();
  }, [edited]);
  const moveUp = (at: number) => {
    const ids = entries.map(({ id }) => id);
    ids.splice(at - 1, 2, ids[at] as number, ids[at - 1] as number);
    return attempt("The order was not changed", () => reorder(ids));
  };
  return (
    <>
      <ul ref={list}>
        {entries.map((entry, at) => (
          <li key={entry.id} data-entry={entry.id}>
            {edited === entry.id ? (
              form(entry, () => setEdited(null))
            ) : (
              <div class="setting">
                <span>{show(entry)}</span>
                <span class="setting-field">
                  {at === 0 ? null : (
                    <button type="button" aria-label={`Move ${nameOf(entry)} up`} onClick={() => void moveUp(at)}>
                      Up
                    </button>
                  )}
                  <button
                    type="button"
                    class="change"
                    aria-label={`Change ${nameOf(entry)}`}
                    onClick={() => setEdited(entry.id)}
                  >
                    Change
                  </button>
                  <button
                    type="button"
                    aria-label={`${removal(entry).action ?? "Remove"} ${nameOf(entry)}`}
                    onClick={() => setRemoved(entry)}
                  >
                    {removal(entry).action ?? "Remove"}
                  </button>
                </span>
              </div>
            )}
          </li>
        ))}
      </ul>
      {entries.length === 0 ? <p class="quiet">There are none yet.</p> : null}
      {removed === null ? null : <ConfirmDialog {...removal(removed)} onClose={() => setRemoved(null)} />}
    </>
  );
}
