/**
 * What people write for short, and what it stands for: of everyday work with computers, reviewed by hand. A word that
 * has other meanings as often (kg, am, pm) is not in the list; one that has them in lower case (Mr, Spanish del) stands in capitals.
 */
const LIST = `
  pr: pull request
  prs: pull requests
  MR: merge request
  MRS: merge requests
  dm: direct message
  dms: direct messages
  msg: message
  msgs: messages
  convo: conversation
  repo: repository
  repos: repositories
  org: organization
  orgs: organizations
  ci: continuous integration pipeline build
  k8s: kubernetes
  kube: kubernetes
  svc: service
  env: environment
  vm: virtual machine
  vms: virtual machines
  db: database
  dbs: databases
  kv: key value
  pg: postgres
  mongo: mongodb
  js: javascript
  TS: typescript
  py: python
  MD: markdown
  screencap: screenshot
  screengrab: screenshot
  pic: picture image
  pics: pictures images
  img: image
  imgs: images
  vid: video
  vids: videos
  doc: document
  docs: documents documentation
  dir: directory
  dirs: directories
  config: configuration
  configs: configurations
  auth: authentication
  admin: administrator
  acct: account
  attn: attention
  appt: appointment
  appts: appointments
  gcal: google calendar
  gdrive: google drive
  gdocs: google docs
  gsheet: google sheets spreadsheet
  gsheets: google sheets spreadsheets
  gmaps: google maps
  insta: instagram
  yt: youtube
  fb: facebook
  wiki: wikipedia
  mtg: meeting
  mtgs: meetings
  sched: schedule
  resched: reschedule
  tmrw: tomorrow
  tz: timezone
  eta: arrival travel time duration
  coords: coordinates
  avg: average
  qty: quantity
  txn: transaction
  txns: transactions
  FX: foreign exchange currency
  stats: statistics
  eval: evaluate
  exec: execute
  cmd: command
  param: parameter
  params: parameters
  regex: regular expression
  func: function
  vars: variables
  perf: performance
  tix: tickets
  bday: birthday
  ocr: text recognition
  tts: text to speech
  stt: speech to text
  pwd: password
  mkdir: create directory
  rmdir: remove delete directory
  rm: remove delete file
  mv: move rename file
  cp: copy file
  ls: list directory files
  grep: search text
  chmod: change permissions
  wget: download url
  unzip: extract archive
  DEL: delete
  fwd: forward
  rsvp: respond invitation
`;

const meanings = new Map(
  LIST.trim()
    .split('\n')
    .map((line) => {
      const [short = '', meaning = ''] = line.split(':');
      return [short.trim(), meaning.trim()] as const;
    }),
);

/** Words of other languages that their glossaries lack. */
const FOREIGN: ReadonlyMap<string, ReadonlySet<string>> = new Map([['de', new Set(['dir'])]]);

/** Whether it is a word of the language rather than an abbreviation. */
export function isForeign(word: string, language: string): boolean {
  return FOREIGN.get(language)?.has(word.toLowerCase()) ?? false;
}

/** Of a word as it is written in a query; undefined for a word that is no abbreviation. */
export function meaningOf(word: string): string | undefined {
  return meanings.get(word.toLowerCase()) ?? meanings.get(word);
}
