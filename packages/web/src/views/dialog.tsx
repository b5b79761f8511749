/** A dialog over the page. No view needs one at first. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { giveBackFocus } from "../focus.ts";
import { addLayer } from "../navigation.ts";
import { IconButton } from "./parts.tsx";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly class?: string;
}

/** A dialog of the browser: it keeps the focus inside, Escape closes it, and the focus returns to where it was. */
export function Dialog({ title, onClose, children, class: className = "" }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    const { current } = dialog;
    current?.showModal();
    current?.querySelector<HTMLElement>("[data-first]")?.focus();
    const forget = addLayer(onClose);
    return () => {
      forget();
      // Nothing outside an open dialog can take the focus.
      current?.close();
      giveBackFocus(before);
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog ${className}`}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div class="dialog-box">
        <header class="dialog-head">
          <h2>{title}</h2>
          <IconButton icon="close" label="Close" onClick={onClose} />
        </header>
        <div class="dialog-body">{children}</div>
      </div>
    </dialog>
  );
}
