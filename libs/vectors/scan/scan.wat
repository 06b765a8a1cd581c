;; Two functions on vectors, sixteen numbers at a time.
(module
  (memory (export "memory") 1)
  ;; Dot products of one query with vectors that lie one after the other.
  (func (export "scan")
    (param $vector i32) ;; address of the first vector
    (param $query i32)  ;; address of the query
    (param $score i32)  ;; address of the first score
    (param $count i32)  ;; number of vectors, at least 1
    (param $bytes i32)  ;; size of a vector, a multiple of 64
    (local $at i32)
    (local $end i32)
    (local $a v128)
    (local $b v128)
    (local $c v128)
    (local $d v128)
    (loop $vectors
      (local.set $at (local.get $query))
      (local.set $end (i32.add (local.get $query) (local.get $bytes)))
      (local.set $a (v128.const f32x4 0 0 0 0))
      (local.set $b (v128.const f32x4 0 0 0 0))
      (local.set $c (v128.const f32x4 0 0 0 0))
      (local.set $d (v128.const f32x4 0 0 0 0))
      (loop $floats
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul
          (v128.load (local.get $vector)) (v128.load (local.get $at)))))
        (local.set $b (f32x4.add (local.get $b) (f32x4.mul
          (v128.load offset=16 (local.get $vector)) (v128.load offset=16 (local.get $at)))))
        (local.set $c (f32x4.add (local.get $c) (f32x4.mul
          (v128.load offset=32 (local.get $vector)) (v128.load offset=32 (local.get $at)))))
        (local.set $d (f32x4.add (local.get $d) (f32x4.mul
          (v128.load offset=48 (local.get $vector)) (v128.load offset=48 (local.get $at)))))
        (local.set $vector (i32.add (local.get $vector) (i32.const 64)))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br_if $floats (i32.lt_u (local.get $at) (local.get $end))))
      (local.set $a (f32x4.add
        (f32x4.add (local.get $a) (local.get $b))
        (f32x4.add (local.get $c) (local.get $d))))
      (f32.store (local.get $score)
        (f32.add
          (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
          (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))
      (local.set $score (i32.add (local.get $score) (i32.const 4)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $vectors (local.get $count))))

  ;; Adds a row of signed bytes, each times the scale, to a vector of floats.
  (func (export "add")
    (param $row i32)   ;; address of the first byte
    (param $sum i32)   ;; address of the first float
    (param $scale f32)
    (param $count i32) ;; number of bytes, a multiple of 16
    (local $end i32)
    (local $scales v128)
    (local $bytes v128)
    (local.set $end (i32.add (local.get $row) (local.get $count)))
    (local.set $scales (f32x4.splat (local.get $scale)))
    (loop $rows
      (local.set $bytes (v128.load (local.get $row)))
      (v128.store offset=0 (local.get $sum) (f32x4.add
        (v128.load offset=0 (local.get $sum))
        (f32x4.mul (local.get $scales)
          (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (i16x8.extend_low_i8x16_s (local.get $bytes)))))))
      (v128.store offset=16 (local.get $sum) (f32x4.add
        (v128.load offset=16 (local.get $sum))
        (f32x4.mul (local.get $scales)
          (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (i16x8.extend_low_i8x16_s (local.get $bytes)))))))
      (v128.store offset=32 (local.get $sum) (f32x4.add
        (v128.load offset=32 (local.get $sum))
        (f32x4.mul (local.get $scales)
          (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (i16x8.extend_high_i8x16_s (local.get $bytes)))))))
      (v128.store offset=48 (local.get $sum) (f32x4.add
        (v128.load offset=48 (local.get $sum))
        (f32x4.mul (local.get $scales)
          (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (i16x8.extend_high_i8x16_s (local.get $bytes)))))))
      (local.set $row (i32.add (local.get $row) (i32.const 16)))
      (local.set $sum (i32.add (local.get $sum) (i32.const 64)))
      (br_if $rows (i32.lt_u (local.get $row) (local.get $end))))))
