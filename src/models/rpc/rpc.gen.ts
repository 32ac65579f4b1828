// Made from rpc/rpc.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';
import { file as vppAclFile, type ACL } from '../vpp/acl.gen.ts';
import { file as vppInterfaceFile, type Interface } from '../vpp/interface.gen.ts';
import { file as vppL2File, type BridgeDomain, type FIBEntry, type XConnectPair } from '../vpp/l2.gen.ts';
import { file as vppL3File, type VrfTable, type Route, type ARPEntry, type ProxyARP, type IPScanNeighbor } from '../vpp/l3.gen.ts';
import { file as vppNatFile, type Nat44Interface, type Nat44AddressPool, type Nat44Global, type DNat44 } from '../vpp/nat.gen.ts';
import { file as vppPuntFile, type IPRedirect, type ToHost } from '../vpp/punt.gen.ts';
import { file as linuxInterfaceFile, type Interface as LinuxInterfaceInterface } from '../linux/interface.gen.ts';
import { file as linuxL3File, type ARPEntry as LinuxL3ARPEntry, type Route as LinuxL3Route } from '../linux/l3.gen.ts';

export const file: ProtoFile = {
  name: 'rpc/rpc.proto',
  imports: [vppAclFile, vppInterfaceFile, vppL2File, vppL3File, vppNatFile, vppPuntFile, linuxInterfaceFile, linuxL3File],
  nested: { "rpc": { "nested": { "DataChangeService": { "methods": { "Put": { "requestType": "DataRequest", "responseType": "PutResponse" }, "Del": { "requestType": "DataRequest", "responseType": "DelResponse" } } }, "DataResyncService": { "methods": { "Resync": { "requestType": "DataRequest", "responseType": "ResyncResponse" } } }, "DataRequest": { "fields": { "AccessLists": { "rule": "repeated", "type": "ligato.vpp.acl.ACL", "id": 10 }, "Forwardings": { "rule": "repeated", "type": "bytes", "id": 15 }, "Interfaces": { "rule": "repeated", "type": "ligato.vpp.interfaces.Interface", "id": 20 }, "Spans": { "rule": "repeated", "type": "bytes", "id": 21 }, "RuleChains": { "rule": "repeated", "type": "bytes", "id": 22 }, "VrfTables": { "rule": "repeated", "type": "ligato.vpp.l3.VrfTable", "id": 23 }, "Nat44Interfaces": { "rule": "repeated", "type": "ligato.vpp.nat.Nat44Interface", "id": 24 }, "Nat44AddressPools": { "rule": "repeated", "type": "ligato.vpp.nat.Nat44AddressPool", "id": 25 }, "BridgeDomains": { "rule": "repeated", "type": "ligato.vpp.l2.BridgeDomain", "id": 40 }, "FIBs": { "rule": "repeated", "type": "ligato.vpp.l2.FIBEntry", "id": 41 }, "XCons": { "rule": "repeated", "type": "ligato.vpp.l2.XConnectPair", "id": 42 }, "StaticRoutes": { "rule": "repeated", "type": "ligato.vpp.l3.Route", "id": 50 }, "ArpEntries": { "rule": "repeated", "type": "ligato.vpp.l3.ARPEntry", "id": 51 }, "ProxyArp": { "type": "ligato.vpp.l3.ProxyARP", "id": 52 }, "IPScanNeighbor": { "type": "ligato.vpp.l3.IPScanNeighbor", "id": 53 }, "SPDs": { "rule": "repeated", "type": "bytes", "id": 60 }, "SAs": { "rule": "repeated", "type": "bytes", "id": 61 }, "IPRedirectPunts": { "rule": "repeated", "type": "ligato.vpp.punt.IPRedirect", "id": 65 }, "ToHostPunts": { "rule": "repeated", "type": "ligato.vpp.punt.ToHost", "id": 66 }, "Exceptions": { "rule": "repeated", "type": "bytes", "id": 67 }, "NatGlobal": { "type": "ligato.vpp.nat.Nat44Global", "id": 71 }, "DNATs": { "rule": "repeated", "type": "ligato.vpp.nat.DNat44", "id": 72 }, "LinuxInterfaces": { "rule": "repeated", "type": "ligato.linux.interfaces.Interface", "id": 80 }, "LinuxArpEntries": { "rule": "repeated", "type": "ligato.linux.l3.ARPEntry", "id": 90 }, "LinuxRoutes": { "rule": "repeated", "type": "ligato.linux.l3.Route", "id": 91 } } }, "PutResponse": { "fields": {} }, "DelResponse": { "fields": {} }, "ResyncResponse": { "fields": {} } } } },
};

/** Items of all types that the original has. Those of type bytes have no model here: they are refused. */
export interface DataRequest {
  readonly AccessLists: readonly ACL[];
  /** ligato.vpp.abf.ABF */
  readonly Forwardings: readonly string[];
  readonly Interfaces: readonly Interface[];
  /** ligato.vpp.interfaces.Span */
  readonly Spans: readonly string[];
  /** ligato.linux.iptables.RuleChain */
  readonly RuleChains: readonly string[];
  readonly VrfTables: readonly VrfTable[];
  readonly Nat44Interfaces: readonly Nat44Interface[];
  readonly Nat44AddressPools: readonly Nat44AddressPool[];
  readonly BridgeDomains: readonly BridgeDomain[];
  readonly FIBs: readonly FIBEntry[];
  readonly XCons: readonly XConnectPair[];
  readonly StaticRoutes: readonly Route[];
  readonly ArpEntries: readonly ARPEntry[];
  readonly ProxyArp?: ProxyARP;
  readonly IPScanNeighbor?: IPScanNeighbor;
  /** ligato.vpp.ipsec.SecurityPolicyDatabase */
  readonly SPDs: readonly string[];
  /** ligato.vpp.ipsec.SecurityAssociation */
  readonly SAs: readonly string[];
  readonly IPRedirectPunts: readonly IPRedirect[];
  readonly ToHostPunts: readonly ToHost[];
  /** ligato.vpp.punt.Exception */
  readonly Exceptions: readonly string[];
  readonly NatGlobal?: Nat44Global;
  readonly DNATs: readonly DNat44[];
  readonly LinuxInterfaces: readonly LinuxInterfaceInterface[];
  readonly LinuxArpEntries: readonly LinuxL3ARPEntry[];
  readonly LinuxRoutes: readonly LinuxL3Route[];
}
export const DataRequest: MessageType<DataRequest> = messageType(file, 'rpc.DataRequest');

export interface PutResponse {
}
export const PutResponse: MessageType<PutResponse> = messageType(file, 'rpc.PutResponse');

export interface DelResponse {
}
export const DelResponse: MessageType<DelResponse> = messageType(file, 'rpc.DelResponse');

export interface ResyncResponse {
}
export const ResyncResponse: MessageType<ResyncResponse> = messageType(file, 'rpc.ResyncResponse');

export const DataChangeServiceService = {
  Put: {
    path: '/rpc.DataChangeService/Put',
    request: DataRequest,
    response: PutResponse,
    requestStream: false,
    responseStream: false,
  },
  Del: {
    path: '/rpc.DataChangeService/Del',
    request: DataRequest,
    response: DelResponse,
    requestStream: false,
    responseStream: false,
  },
} as const;

export const DataResyncServiceService = {
  Resync: {
    path: '/rpc.DataResyncService/Resync',
    request: DataRequest,
    response: ResyncResponse,
    requestStream: false,
    responseStream: false,
  },
} as const;
