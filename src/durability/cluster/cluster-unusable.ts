/** Why a node cannot be a member of a cluster. The messages say what to change. */

/** The NATS servers cannot keep what a cluster promises, or cannot be reached: the operator must act. */
export class ClusterUnusable extends Error {
  override readonly name = "ClusterUnusable";
}

/** The NATS servers do not answer: they may have no majority at the moment. A later start may succeed. */
export class ClusterSilent extends Error {
  override readonly name = "ClusterSilent";
}
