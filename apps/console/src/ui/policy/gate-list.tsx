import type { ExplanationView } from '@app/api-client';
import { Link } from '@tanstack/react-router';
import { Check, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { texts } from '../../texts/index.js';
import { classNames } from '../class-names.js';
import { RuleText } from './rule-text.js';

const { policy: t } = texts;

type GateName = keyof typeof t.gates;

/** In the order in which a request is decided; each can only narrow. */
const gates: readonly GateName[] = ['definition', 'rules', 'grant', 'level', 'scope', 'server'];

/** Undefined if every gate is passed. */
function decidingGate(explanation: ExplanationView): GateName | undefined {
  const { decided_by: by, is_callable: isCallable } = explanation;
  if (isCallable) return undefined;
  switch (by) {
    case 'quarantine':
      return 'definition';
    case 'rule':
    case 'no rule':
      return 'rules';
    case 'no grant':
      return 'grant';
    case 'level':
    case 'scope':
    case 'server':
      return by;
    case 'grant':
      return undefined;
    default:
      return by satisfies never;
  }
}

/** Which gates the question passed, which one decided, and which were not reached. */
export function GateList({ explanation }: { readonly explanation: ExplanationView }) {
  const deciding = decidingGate(explanation);
  const last = deciding === undefined ? gates.length : gates.indexOf(deciding);
  return (
    <ol className="border-line border-t">
      {gates.map((gate, at) => (
        <Gate
          key={gate}
          number={at + 1}
          name={t.gates[gate]}
          state={at < last ? 'passes' : at === last ? 'decides' : 'not_reached'}
        >
          {at < last && passed(gate, explanation)}
          {at === last && stopped(gate, explanation)}
        </Gate>
      ))}
    </ol>
  );
}

function passed(gate: GateName, explanation: ExplanationView): ReactNode {
  const { rule, level, grant_id: grant, offered_as: name } = explanation;
  switch (gate) {
    case 'definition':
      return t.approved;
    case 'rules':
      return (
        <>
          {t.includedBy} {rule && <RuleText rule={rule} />}
        </>
      );
    case 'grant':
      return grant === null ? t.withoutGrant : t.grantAt(t.levels[level]);
    case 'level':
      return t.levelIs;
    case 'scope':
      return t.scopeReaches;
    case 'server':
      return name === null ? t.serverReady : `${t.serverReady}. ${t.offeredAs(name)}`;
    default:
      return gate satisfies never;
  }
}

function stopped(gate: GateName, explanation: ExplanationView): ReactNode {
  const { rule, message, decided_by: by, approval_id: approval } = explanation;
  if (gate === 'definition') {
    return (
      <>
        {message} {approval !== null && <Link to="/approvals">{t.review}</Link>}
      </>
    );
  }
  if (gate !== 'rules') return message;
  if (by === 'no rule' || !rule) return t.notIncluded;
  return (
    <>
      {t.excludedBy} <RuleText rule={rule} />
    </>
  );
}

interface GateProps {
  readonly number: number;
  readonly name: string;
  readonly state: 'passes' | 'decides' | 'not_reached';
  readonly children: ReactNode;
}

function Gate({ number, name, state, children }: GateProps) {
  const isOpen = state === 'not_reached';
  return (
    <li
      className={classNames(
        'border-line flex min-h-8 flex-wrap items-center gap-x-3 border-b px-5 py-1.5',
        state === 'decides' && 'bg-bad-weak',
      )}
    >
      <span
        aria-hidden
        className={classNames(
          'grid size-4.5 shrink-0 place-items-center rounded-full',
          state === 'passes' && 'bg-ok-weak text-ok',
          state === 'decides' && 'bg-bad text-text-inv',
          isOpen && 'border-control-line border',
        )}
      >
        {state === 'passes' && <Check size={12} />}
        {state === 'decides' && <X size={12} />}
      </span>
      <span className="text-text-3 w-3 text-small">{number}</span>
      <span className={classNames('w-36', isOpen ? 'text-text-2' : 'font-medium')}>{name}</span>
      <span className="text-text-2 min-w-40 grow basis-40 text-small">{children}</span>
      <span
        className={classNames(
          'text-small',
          state === 'decides' ? 'text-bad font-medium' : 'text-text-2',
        )}
      >
        {t.gateWords[state]}
      </span>
    </li>
  );
}
