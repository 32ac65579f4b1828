/**
 * The graph nodes of VPP that a packet visits where no service concerns it, as the kernel translates them at sockets, and
 * no policy but in the path that names it: `<name>`, or `<name> ×<times>`, as `show runtime` names them. Every packet pays for
 * each, so none joins a path unnoticed.
 */

const outToPod = ['tap-output', 'tap-tx'];
const outToUplink = ['interface-output', 'gso-ip4', 'uplink-output', 'uplink-tx'];

/** Source NAT at the link that leads from the pods to the uplink; the tunnels to other nodes do not pass it. */
const natOutput = [
  'ip4-sv-reassembly-output-featu',
  'nat-pre-in2out-output',
  'nat44-ed-in2out-output',
];
const natInput = [
  'ip4-sv-reassembly-feature',
  'nat-pre-out2in',
  'nat44-ed-out2in',
  'nat44-ed-out2in-slowpath',
];

/** The loopback that links the VRFs, where ACLs see the address of the pod. */
const overVrfLink = ['loop-output', 'loop-tx', 'lookup-ip4-dst', 'ethernet-input ×2'];

const podToPod = ['tap-input', 'ethernet-input', 'ip4-input', 'ip4-lookup', 'ip4-rewrite'];

export const paths = {
  podToPod: [...podToPod, ...outToPod],
  podToIsolatedPod: [...podToPod, 'acl-plugin-out-ip4-fa', 'interface-output', ...outToPod],
  podToOtherNode: [
    ...['tap-input', 'ethernet-input', 'ip4-input', 'ip4-lookup', 'ip4-rewrite ×2'],
    // the routed interface of the bridge domain of the tunnels
    ...['loop-output', 'loop-tx', 'l2-input', 'l2-fwd', 'l2-output', 'vxlan4-encap'],
    ...outToUplink,
  ],
  otherNodeToPod: [
    'af-packet-input',
    ...natInput,
    ...['ip4-receive', 'ip4-udp-lookup', 'vxlan4-input', 'l2-input', 'l2-fwd'],
    ...['ethernet-input', 'ip4-input ×2', 'ip4-lookup ×2', 'ip4-rewrite'],
    ...outToPod,
  ],
  podToOutside: [
    'tap-input',
    // the link of the VRFs, where ACLs see the address of the pod, and that with source NAT
    ...['loop-output', 'loop-tx', 'loop-output', 'loop-tx', 'ethernet-input ×3'],
    ...['ip4-input ×3', 'ip4-lookup ×3', 'ip4-rewrite ×3'],
    ...natOutput,
    ...outToUplink.map((node) => (node === 'interface-output' ? 'interface-output ×2' : node)),
  ],
  outsideToPod: [
    'af-packet-input',
    ...natInput,
    ...overVrfLink,
    ...['ip4-input ×2', 'ip4-lookup ×2', 'ip4-rewrite ×2'],
    ...outToPod,
  ],
} satisfies Readonly<Record<string, readonly string[]>>;
