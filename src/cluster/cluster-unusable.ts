/** The NATS servers cannot keep what a cluster promises, or cannot be reached. The message says what to change. */
export class ClusterUnusable extends Error {
  override readonly name = "ClusterUnusable";
}
