/** Annotations of a pod that limit how fast it may receive and send, in bits a second. */
export const bandwidthAnnotations = {
  ingress: 'kubernetes.io/ingress-bandwidth',
  egress: 'kubernetes.io/egress-bandwidth',
} as const;

export type BandwidthDirection = keyof typeof bandwidthAnnotations;
