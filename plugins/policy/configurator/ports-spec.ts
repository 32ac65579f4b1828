/** The ports of a rule, checked and compiled. */
import type { PolicyPort } from '#kubernetes/models/policy.ts';
import type { PortName } from '../cache/policy-pod.ts';
import { allPorts, type PolicyProtocol, PortSet, type ProtocolPorts } from '../port-set.ts';

export interface PortsSpec {
  /** Ports that are given by number. */
  readonly numbers: PortSet;
  /** Each once; the number is that of the pod that receives. */
  readonly names: readonly PortName[];
}

const MAX_PORT = 65_535;

type Report = (problem: string) => void;

export function portsSpec(ports: readonly PolicyPort[], report: Report): PortsSpec {
  if (ports.length === 0) return { numbers: PortSet.any, names: [] };
  const numbers: ProtocolPorts[] = [];
  const names: PortName[] = [];
  for (const [at, one] of ports.entries()) {
    const tell: Report = (problem) => report(`port ${at} permits nothing: ${problem}`);
    const { port, protocol, end_port: end } = one;
    if (port?.type === 'NAME') {
      if (port.name === '') tell('its name is empty');
      else if (end !== 0) tell(`the range that begins at "${port.name}" needs a number`);
      else if (!names.some((known) => known.protocol === protocol && known.name === port.name))
        names.push({ protocol, name: port.name });
      continue;
    }
    const range = numberedPorts(port?.number, end, protocol, tell);
    if (range !== undefined) numbers.push(range);
  }
  return { numbers: PortSet.of(numbers), names };
}

/** @param number undefined: every port of the protocol */
function numberedPorts(
  number: number | undefined,
  end: number,
  protocol: PolicyProtocol,
  tell: Report,
): ProtocolPorts | undefined {
  if (number === undefined) {
    if (end === 0) return { protocol, ...allPorts };
    tell(`the range to ${end} has no start`);
    return undefined;
  }
  const last = end === 0 ? number : end;
  const invalid = [number, last].find((one) => one < 1 || one > MAX_PORT);
  if (invalid !== undefined) tell(`${invalid} is not a port`);
  else if (last < number) tell(`the range ends at ${last}, before it begins at ${number}`);
  else return { protocol, first: number, last };
  return undefined;
}
