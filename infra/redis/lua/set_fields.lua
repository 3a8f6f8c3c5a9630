-- Sets fields of a hash, even if the server's memory is full: for records of a few bytes, without which
-- nothing that frees memory could go on.
--
-- KEYS  1 the hash
-- ARGV  names and values of fields in turn
-- Returns  1

-- needs no memory, and after a first write the server refuses none, because there is no rollback
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1
