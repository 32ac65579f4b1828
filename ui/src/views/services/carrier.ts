/** Name of what carries a service with the value of this key: as `netctl services` says it. */
export function carrierOf(key: string): string {
  if (key.startsWith('config/linux/')) return 'sockets';
  return key.startsWith('config/vpp/nat/v2/cnat-translation/') ? 'cnat' : 'NAT44';
}
