/** Shows a picture or a video of a message over the page. */
import { fileNameOf } from "../content.ts";
import { Dialog } from "./dialog.tsx";
import { openedImage } from "./opened.ts";
import { lazy } from "./parts.tsx";

/** Most people who read never open a video, so its controls are not part of the first view. */
const VideoPlayer = lazy(() => import("./video-player.tsx").then((views) => views.VideoPlayer));

export function ImageViewer() {
  const { value } = openedImage;
  if (value === null) return null;
  const name = fileNameOf(value.href);
  const close = () => {
    openedImage.value = null;
  };
  return (
    <Dialog title={name} onClose={close} class="viewer">
      {value.isVideo ? <VideoPlayer href={value.href} name={name} /> : <img src={value.href} alt={name} />}
      <p>
        <a href={value.href} target="_blank" rel="noopener noreferrer">
          Open in a new tab
        </a>
      </p>
    </Dialog>
  );
}
