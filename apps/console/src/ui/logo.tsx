export function Logo() {
  return <img src="/console/favicon.svg" alt="" width={20} height={20} />;
}
