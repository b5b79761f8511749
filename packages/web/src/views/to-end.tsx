/** The button that leads to the newest message, while the list is elsewhere. */
import { useEffect, useState } from "preact/hooks";
import { Icon } from "./icon.tsx";

interface ToEndProps {
  readonly box: { readonly current: HTMLElement | null };
  readonly isAtEnd: () => boolean;
  readonly isEnd: boolean;
  readonly onEnd: () => void;
}

export function ToEnd({ box, isAtEnd, isEnd, onEnd }: ToEndProps) {
  const [isShown, show] = useState(false);
  useEffect(() => {
    const { current } = box;
    const look = () => show(!isAtEnd());
    current?.addEventListener("scroll", look, { passive: true });
    return () => current?.removeEventListener("scroll", look);
  }, []);
  if (!isShown && isEnd) return null;
  return (
    <button
      type="button"
      class="to-end"
      aria-label="Go to the newest message"
      title="Go to the newest message (End)"
      onClick={() => {
        onEnd();
        show(false);
      }}
    >
      <Icon name="bottom" size={16} />
    </button>
  );
}
