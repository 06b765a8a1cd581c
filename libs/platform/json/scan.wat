;; Checks JSON text (RFC 8259) that arrives in pieces, and notes where the members near its surface stand.
;; States between two bytes, as numbered in the table of $scan:
;;   0 value or ]   1 value   2 key or }   3 key   4 colon   5 comma or closing bracket   6 only white space
;;   7 in a string   8 after a backslash   9 in \uXXXX
;;   10 after -   11 after a leading 0   12 digits   13 after the point   14 decimals
;;   15 after e   16 after the sign of an exponent   17 digits of an exponent   18 in true, false, null
;; Memory:
;;   0 where the open value of a depth starts   16 the same for its key
;;   32 state, depth, end of the notes, values so far, deepest so far: what the last piece came to
;;   64 words   256 classes of bytes   1,024 kind of the open brackets by depth: 1 is an object
;;   16,384 the piece, at most 32,768 bytes
;;   49,408 the notes of this piece: start of key (-1 for items of an array), start of value, end, depth
(module
  (memory (export "memory") 5)
  ;; What follows the first letter of true, false and null.
  (data (i32.const 64) "rue\00alse\00ull\00")
  ;; At 256 + byte: 1 what may follow a backslash but u, 2 a hexadecimal digit.
  (data (i32.const 290) "\01")
  (data (i32.const 303) "\01\02\02\02\02\02\02\02\02\02\02")
  (data (i32.const 321) "\02\02\02\02\02\02")
  (data (i32.const 348) "\01")
  (data (i32.const 353) "\02\03\02\02\02\03")
  (data (i32.const 366) "\01\00\00\00\01\00\01")

  (global $state (mut i32) (i32.const 1))
  (global $depth (mut i32) (i32.const 0))
  ;; What to add to an address in the piece for its place in the whole text.
  (global $base (mut i32) (i32.const 0))
  ;; Members of deeper brackets are not noted; at most 3.
  (global $noted (mut i32) (i32.const 0))
  ;; Where the next note goes.
  (global $out (mut i32) (i32.const 49408))
  ;; Items of the outermost array that may still be noted.
  (global $items (mut i32) (i32.const 0))
  (global $values (mut i32) (i32.const 0))
  (global $deepest (mut i32) (i32.const 0))
  (global $isKey (mut i32) (i32.const 0))
  (global $hex (mut i32) (i32.const 0))
  (global $word (mut i32) (i32.const 0))

  (func (export "begin") (param $noted i32)
    (global.set $state (i32.const 1))
    (global.set $depth (i32.const 0))
    (global.set $isKey (i32.const 0))
    (global.set $items (i32.const 1024))
    (global.set $values (i32.const 0))
    (global.set $deepest (i32.const 0))
    (global.set $noted (local.get $noted)))

  ;; For the rest of the text.
  (func (export "noteOnly") (param $noted i32)
    (global.set $noted (local.get $noted)))

  ;; Of arrays only the outermost has its items noted: it may be a batch of messages.
  (func $note (param $depth i32) (param $end i32)
    (local $out i32)
    (if (i32.eqz (i32.load8_u offset=1024 (local.get $depth)))
      (then
        (if (i32.ne (local.get $depth) (i32.const 1)) (then (return)))
        (if (i32.eqz (global.get $items)) (then (return)))
        (global.set $items (i32.sub (global.get $items) (i32.const 1)))))
    (local.set $out (global.get $out))
    (i32.store (local.get $out)
      (i32.load offset=16 (i32.shl (local.get $depth) (i32.const 2))))
    (i32.store offset=4 (local.get $out)
      (i32.load (i32.shl (local.get $depth) (i32.const 2))))
    (i32.store offset=8 (local.get $out) (local.get $end))
    (i32.store offset=12 (local.get $out) (local.get $depth))
    (global.set $out (i32.add (local.get $out) (i32.const 16))))

  (func $leave (param $state i32) (param $depth i32)
    (global.set $state (local.get $state))
    (global.set $depth (local.get $depth))
    (i32.store (i32.const 32) (local.get $state))
    (i32.store (i32.const 36) (local.get $depth))
    (i32.store (i32.const 40) (global.get $out))
    (i32.store (i32.const 44) (global.get $values))
    (i32.store (i32.const 48) (global.get $deepest)))

  ;; Reads the piece from $at to $end; $base and an address in it make the place in the whole text.
  ;; Returns -1, or the address of the byte that cannot stand there.
  (func (export "scan") (param $at i32) (param $end i32) (param $base i32) (result i32)
    (local $state i32)
    (local $depth i32)
    (local $c i32)
    (local $last i32)
    (local $bytes v128)
    (local $found i32)
    (global.set $base (local.get $base))
    (global.set $out (i32.const 49408))
    (local.set $state (global.get $state))
    (local.set $depth (global.get $depth))
    ;; The last address from which sixteen bytes can be read.
    (local.set $last (i32.sub (local.get $end) (i32.const 16)))
    (block $wrong
    (loop $next
      (if (i32.ge_u (local.get $at) (local.get $end))
        (then
          (call $leave (local.get $state) (local.get $depth))
          (return (i32.const -1))))
      (local.set $c (i32.load8_u (local.get $at)))
      (if (i32.and (i32.le_u (local.get $state) (i32.const 6)) (i32.le_u (local.get $c) (i32.const 32)))
        (then
          ;; Tab, line feed, carriage return, space.
          (br_if $wrong (i64.eqz (i64.and
            (i64.shl (i64.const 1) (i64.extend_i32_u (local.get $c)))
            (i64.const 0x100002600))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next)))
      (block $ended
      (block $close
        (block $s18 (block $s17 (block $s16 (block $s15 (block $s14 (block $s13 (block $s12
        (block $s11 (block $s10 (block $s9 (block $s8 (block $s7 (block $s6 (block $s5
        (block $s4 (block $s3 (block $s2 (block $s1 (block $s0
          (br_table $s0 $s1 $s2 $s3 $s4 $s5 $s6 $s7 $s8 $s9 $s10 $s11 $s12 $s13 $s14 $s15 $s16 $s17 $s18
            (local.get $state)))

          ;; 0 value or ]
          (br_if $close (i32.eq (local.get $c) (i32.const 0x5d))))

          ;; 1 value
          (if (i32.le_u (local.get $depth) (global.get $noted))
            (then
              (i32.store (i32.shl (local.get $depth) (i32.const 2))
                (i32.add (local.get $at) (global.get $base)))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (if (i32.eq (local.get $c) (i32.const 0x22))
            (then (local.set $state (i32.const 7)) (br $s7)))
          (if (i32.eq (i32.or (local.get $c) (i32.const 0x20)) (i32.const 0x7b))
            (then
              ;; [ and { differ in one bit.
              (local.set $depth (i32.add (local.get $depth) (i32.const 1)))
              (if (i32.gt_u (local.get $depth) (i32.const 10000))
                (then
                  (local.set $at (i32.sub (local.get $at) (i32.const 1)))
                  (br $wrong)))
              (if (i32.gt_u (local.get $depth) (global.get $deepest))
                (then (global.set $deepest (local.get $depth))))
              (i32.store8 offset=1024 (local.get $depth)
                (i32.shr_u (i32.and (local.get $c) (i32.const 0x20)) (i32.const 5)))
              (if (i32.le_u (local.get $depth) (global.get $noted))
                (then
                  (i32.store offset=16 (i32.shl (local.get $depth) (i32.const 2)) (i32.const -1))))
              (local.set $state
                (i32.shr_u (i32.and (local.get $c) (i32.const 0x20)) (i32.const 4)))
              (br $next)))
          (if (i32.lt_u (i32.sub (local.get $c) (i32.const 0x31)) (i32.const 9))
            (then (local.set $state (i32.const 12)) (br $s12)))
          (if (i32.eq (local.get $c) (i32.const 0x30))
            (then (local.set $state (i32.const 11)) (br $next)))
          (if (i32.eq (local.get $c) (i32.const 0x2d))
            (then (local.set $state (i32.const 10)) (br $next)))
          (local.set $state (i32.const 18))
          (if (i32.eq (local.get $c) (i32.const 0x74))
            (then (global.set $word (i32.const 64)) (br $next)))
          (if (i32.eq (local.get $c) (i32.const 0x66))
            (then (global.set $word (i32.const 68)) (br $next)))
          (if (i32.eq (local.get $c) (i32.const 0x6e))
            (then (global.set $word (i32.const 73)) (br $next)))
          (local.set $at (i32.sub (local.get $at) (i32.const 1)))
          (br $wrong))

          ;; 2 key or }
          (br_if $close (i32.eq (local.get $c) (i32.const 0x7d))))

          ;; 3 key
          (br_if $wrong (i32.ne (local.get $c) (i32.const 0x22)))
          (if (i32.le_u (local.get $depth) (global.get $noted))
            (then
              (i32.store offset=16 (i32.shl (local.get $depth) (i32.const 2))
                (i32.add (local.get $at) (global.get $base)))))
          (global.set $isKey (i32.const 1))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (local.set $state (i32.const 7))
          (br $s7))

          ;; 4 colon
          (br_if $wrong (i32.ne (local.get $c) (i32.const 0x3a)))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (local.set $state (i32.const 1))
          (br $next))

          ;; 5 comma or closing bracket
          (if (i32.eq (local.get $c) (i32.const 0x2c))
            (then
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (local.set $state
                (select (i32.const 3) (i32.const 1) (i32.load8_u offset=1024 (local.get $depth))))
              (br $next)))
          (br_if $close (i32.eq (local.get $c)
            (select (i32.const 0x7d) (i32.const 0x5d) (i32.load8_u offset=1024 (local.get $depth)))))
          (br $wrong))

          ;; 6 only white space
          (br $wrong))

          ;; 7 in a string
          (loop $inside
            (block $special
              (loop $long
                (br_if $special (i32.gt_s (local.get $at) (local.get $last)))
                (local.set $bytes (v128.load (local.get $at)))
                (local.set $found (i8x16.bitmask (v128.or
                  (v128.or
                    (i8x16.eq (local.get $bytes) (v128.const i8x16
                      0x22 0x22 0x22 0x22 0x22 0x22 0x22 0x22 0x22 0x22 0x22 0x22 0x22 0x22 0x22 0x22))
                    (i8x16.eq (local.get $bytes) (v128.const i8x16
                      0x5c 0x5c 0x5c 0x5c 0x5c 0x5c 0x5c 0x5c 0x5c 0x5c 0x5c 0x5c 0x5c 0x5c 0x5c 0x5c)))
                  (i8x16.lt_u (local.get $bytes) (v128.const i8x16
                    0x20 0x20 0x20 0x20 0x20 0x20 0x20 0x20 0x20 0x20 0x20 0x20 0x20 0x20 0x20 0x20)))))
                (if (local.get $found)
                  (then
                    (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $found))))
                    (br $special)))
                (local.set $at (i32.add (local.get $at) (i32.const 16)))
                (br $long)))
            (br_if $next (i32.ge_u (local.get $at) (local.get $end)))
            (local.set $c (i32.load8_u (local.get $at)))
            (if (i32.eq (local.get $c) (i32.const 0x22))
              (then
                (local.set $at (i32.add (local.get $at) (i32.const 1)))
                (br_if $ended (i32.eqz (global.get $isKey)))
                (global.set $isKey (i32.const 0))
                (local.set $state (i32.const 4))
                (br_if $next (i32.ge_u (local.get $at) (local.get $end)))
                (br_if $next (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x3a)))
                (local.set $at (i32.add (local.get $at) (i32.const 1)))
                (local.set $state (i32.const 1))
                (br $next)))
            (br_if $wrong (i32.lt_u (local.get $c) (i32.const 0x20)))
            (if (i32.ne (local.get $c) (i32.const 0x5c))
              (then
                (local.set $at (i32.add (local.get $at) (i32.const 1)))
                (br $inside)))
            ;; An escape is read at once where all of it is in the piece; else, or when wrong, byte by byte.
            (if (i32.le_s (local.get $at) (local.get $last))
              (then
                (local.set $c (i32.load8_u offset=1 (local.get $at)))
                (if (i32.and (i32.load8_u offset=256 (local.get $c)) (i32.const 1))
                  (then
                    (local.set $at (i32.add (local.get $at) (i32.const 2)))
                    (br $inside)))
                (if (i32.eq (local.get $c) (i32.const 0x75))
                  (then
                    (if (i32.and
                          (i32.and
                            (i32.and
                              (i32.load8_u offset=256 (i32.load8_u offset=2 (local.get $at)))
                              (i32.load8_u offset=256 (i32.load8_u offset=3 (local.get $at))))
                            (i32.and
                              (i32.load8_u offset=256 (i32.load8_u offset=4 (local.get $at)))
                              (i32.load8_u offset=256 (i32.load8_u offset=5 (local.get $at)))))
                          (i32.const 2))
                      (then
                        (local.set $at (i32.add (local.get $at) (i32.const 6)))
                        (br $inside)))))))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (local.set $state (i32.const 8))
            (br $next)))

          ;; 8 after a backslash
          (local.set $state (i32.const 7))
          (if (i32.eq (local.get $c) (i32.const 0x75))
            (then
              (global.set $hex (i32.const 4))
              (local.set $state (i32.const 9)))
            (else
              (br_if $wrong (i32.eqz
                (i32.and (i32.load8_u offset=256 (local.get $c)) (i32.const 1))))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))

          ;; 9 in \uXXXX
          (br_if $wrong (i32.eqz
            (i32.and (i32.load8_u offset=256 (local.get $c)) (i32.const 2))))
          (global.set $hex (i32.sub (global.get $hex) (i32.const 1)))
          (if (i32.eqz (global.get $hex)) (then (local.set $state (i32.const 7))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))

          ;; 10 after -
          (br_if $wrong (i32.ge_u (i32.sub (local.get $c) (i32.const 0x30)) (i32.const 10)))
          (local.set $state
            (select (i32.const 11) (i32.const 12) (i32.eq (local.get $c) (i32.const 0x30))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))

          ;; 11 after a leading 0
          (local.set $found (i32.const 0))
          (if (i32.eq (local.get $c) (i32.const 0x2e))
            (then (local.set $found (i32.const 13))))
          (if (i32.eq (i32.or (local.get $c) (i32.const 0x20)) (i32.const 0x65))
            (then (local.set $found (i32.const 15))))
          (br_if $ended (i32.eqz (local.get $found)))
          (local.set $state (local.get $found))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))

          ;; 12 digits
          (loop $digits
            (br_if $next (i32.ge_u (local.get $at) (local.get $end)))
            (local.set $c (i32.load8_u (local.get $at)))
            (if (i32.lt_u (i32.sub (local.get $c) (i32.const 0x30)) (i32.const 10))
              (then
                (local.set $at (i32.add (local.get $at) (i32.const 1)))
                (br $digits))))
          (local.set $found (i32.const 0))
          (if (i32.eq (local.get $c) (i32.const 0x2e))
            (then (local.set $found (i32.const 13))))
          (if (i32.eq (i32.or (local.get $c) (i32.const 0x20)) (i32.const 0x65))
            (then (local.set $found (i32.const 15))))
          (br_if $ended (i32.eqz (local.get $found)))
          (local.set $state (local.get $found))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))

          ;; 13 after the point
          (br_if $wrong (i32.ge_u (i32.sub (local.get $c) (i32.const 0x30)) (i32.const 10)))
          (local.set $state (i32.const 14))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))

          ;; 14 decimals
          (loop $decimals
            (br_if $next (i32.ge_u (local.get $at) (local.get $end)))
            (local.set $c (i32.load8_u (local.get $at)))
            (if (i32.lt_u (i32.sub (local.get $c) (i32.const 0x30)) (i32.const 10))
              (then
                (local.set $at (i32.add (local.get $at) (i32.const 1)))
                (br $decimals))))
          (br_if $ended (i32.ne (i32.or (local.get $c) (i32.const 0x20)) (i32.const 0x65)))
          (local.set $state (i32.const 15))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))

          ;; 15 after e
          (if (i32.or
                (i32.eq (local.get $c) (i32.const 0x2b))
                (i32.eq (local.get $c) (i32.const 0x2d)))
            (then
              (local.set $state (i32.const 16))
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (br $next))))

          ;; 16 after the sign of an exponent
          (br_if $wrong (i32.ge_u (i32.sub (local.get $c) (i32.const 0x30)) (i32.const 10)))
          (local.set $state (i32.const 17))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))

          ;; 17 digits of an exponent
          (br_if $ended (i32.ge_u (i32.sub (local.get $c) (i32.const 0x30)) (i32.const 10)))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))

          ;; 18 in true, false, null
          (br_if $wrong (i32.ne (local.get $c) (i32.load8_u (global.get $word))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (global.set $word (i32.add (global.get $word) (i32.const 1)))
          (br_if $next (i32.load8_u (global.get $word)))
          (br $ended))

      ;; $close: a closing bracket.
      (local.set $depth (i32.sub (local.get $depth) (i32.const 1)))
      (local.set $at (i32.add (local.get $at) (i32.const 1))))

      ;; $ended: a value ended before $at.
      (global.set $values (i32.add (global.get $values) (i32.const 1)))
      (if (i32.eqz (local.get $depth))
        (then
          (local.set $state (i32.const 6))
          (br $next)))
      (if (i32.le_u (local.get $depth) (global.get $noted))
        (then (call $note (local.get $depth) (i32.add (local.get $at) (global.get $base)))))
      (local.set $state (i32.const 5))
      (br_if $next (i32.ge_u (local.get $at) (local.get $end)))
      (br_if $next (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x2c)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (local.set $state
        (select (i32.const 3) (i32.const 1) (i32.load8_u offset=1024 (local.get $depth))))
      (br $next)))
    ;; $wrong
    (call $leave (local.get $state) (local.get $depth))
    (local.get $at)))
