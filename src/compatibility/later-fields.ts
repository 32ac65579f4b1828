/**
 * Fields and names of the models that those of the original (ligato vpp-agent v3.1.0) do not have. Its
 * programs reject a value with an unknown field or name, so documents for them leave these out.
 */

/** By message. */
export const laterFields: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['ligato.linux.interfaces.Interface', new Set(['vrf_master_interface', 'vrf_dev'])],
  ['ligato.vpp.acl.ACL.Rule.IpRule.Ip', new Set(['protocol'])],
  ['ligato.vpp.interfaces.Interface', new Set(['ip6_nd'])],
  ['ligato.vpp.interfaces.TapLink', new Set(['enable_tunnel', 'host_namespace'])],
  ['ligato.vpp.l3.ProxyARP.Range', new Set(['vrf_id'])],
  ['ligato.vpp.nat.DNat44.IdentityMapping', new Set(['requires_pool'])],
  ['ligato.vpp.nat.DNat44.StaticMapping', new Set(['twice_nat_pool_ip'])],
  ['ligato.vpp.nat.Nat44AddressPool', new Set(['name'])],
  ['ligato.vpp.nat.Nat44Global', new Set(['endpoint_independent', 'sessions'])],
  ['ligato.vpp.nat.Nat44Interface', new Set(['classify'])],
]);

/** By enum: the nearest name that the original has. */
export const laterNames: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map([
  ['ligato.vpp.l3.Route.RouteType', { UNREACHABLE: 'DROP', SOURCE_VRF: 'INTER_VRF' }],
]);
