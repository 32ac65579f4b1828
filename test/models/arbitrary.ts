/** Random JSON of any message type, in all the spellings that Go's jsonpb would read. */
import fc from 'fast-check';
import protobuf from 'protobufjs/light.js';

const octet = fc.integer({ min: 0, max: 255 });
const ipv4 = fc.tuple(octet, octet, octet, octet).map((bytes) => bytes.join('.'));
const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
const ipv6 = fc
  .tuple(fc.array(group, { minLength: 8, maxLength: 8 }), fc.boolean())
  .map(([groups, upper]) => {
    const text = groups.map((each) => each.toString(16)).join(':');
    return upper ? text.toUpperCase() : text;
  });
export const ipText = fc.oneof(ipv4, ipv6);
export const cidrText = fc.oneof(
  fc.tuple(ipv4, fc.integer({ min: 0, max: 32 })).map(([ip, length]) => `${ip}/${length}`),
  fc.tuple(ipv6, fc.integer({ min: 0, max: 128 })).map(([ip, length]) => `${ip}/${length}`),
);
export const macText = fc
  .tuple(fc.array(octet, { minLength: 6, maxLength: 6 }), fc.boolean())
  .map(([bytes, upper]) => {
    const text = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(':');
    return upper ? text.toUpperCase() : text;
  });
/** Names as people choose them and as VPP makes them. */
export const nameText = fc.oneof(
  fc.constantFrom('GigabitEthernet0/8/0', 'vxlanBVI', 'vpp-tap-3f5a', 'a', 'if', 'vrf/1', 'gw'),
  fc.stringMatching(/^[a-zA-Z0-9._-]{1,12}$/),
);

const texts: readonly (readonly [RegExp, fc.Arbitrary<string>])[] = [
  [/^(phys_address|hw_address|host_phys_address|source_mac_address|.*_mask)$/, macText],
  [/^(dst_network|ip_addresses|host_ip_address|router_ip_address|.*_network)$/, cidrText],
  [/(_ip|_addr|^ip_address|^address|_address|^next_hop|^first_ip.*|^last_ip.*|^gw_.*)$/, ipText],
];

function textOf(typeName: string, field: string): fc.Arbitrary<string> {
  if (typeName.endsWith('MacIpRule') && field === 'source_address') return nameText;
  return texts.find(([pattern]) => pattern.test(field))?.[1] ?? nameText;
}

const integers: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  uint32: fc.oneof(fc.nat(2 ** 32 - 1), fc.nat(300).map(String)),
  int32: fc.integer(),
  uint64: fc.bigInt(0n, 2n ** 64n - 1n).map(String),
  int64: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(String),
};

export function jsonOf(type: protobuf.Type): fc.Arbitrary<Record<string, unknown>> {
  const fields = type.fieldsArray.map((field) =>
    fieldOf(type, field).map((value) => ({ field, value })),
  );
  return fc.tuple(fc.tuple(...fields), fc.boolean()).map(([values, camel]) => {
    const json: Record<string, unknown> = {};
    const taken = new Set<string>();
    for (const { field, value } of values) {
      if (value === undefined) continue;
      if (field.partOf) {
        if (taken.has(field.partOf.name)) continue;
        taken.add(field.partOf.name);
      }
      json[camel ? protobuf.util.camelCase(field.name) : field.name] = value;
    }
    return json;
  });
}

function fieldOf(type: protobuf.Type, field: protobuf.Field): fc.Arbitrary<unknown> {
  field.resolve();
  const one = elementOf(type, field);
  const set = field.repeated ? fc.array(one, { maxLength: 3 }) : one;
  return fc.option(set, { nil: undefined });
}

function elementOf(type: protobuf.Type, field: protobuf.Field): fc.Arbitrary<unknown> {
  if (field.resolvedType instanceof protobuf.Type) return jsonOf(field.resolvedType);
  if (field.resolvedType instanceof protobuf.Enum) {
    const values = field.resolvedType.values;
    return fc.constantFrom(...Object.keys(values), ...Object.values(values));
  }
  if (field.type === 'string') return textOf(type.name, field.name);
  if (field.type === 'bool') return fc.boolean();
  const made = integers[field.type];
  if (made === undefined) throw new Error(`no arbitrary for ${field.type}`);
  return made;
}
