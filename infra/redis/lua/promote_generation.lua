-- Makes a rebuilt generation of a projection the live one.
--
-- KEYS  1 pointer  2 mark that a generation is being built
-- ARGV  1 pointer as it was read, '' for none  2 the new one  3 the builder's token
-- Returns  1 | 0 (one of the two has changed; nothing written)

if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] or redis.call('GET', KEYS[2]) ~= ARGV[3] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2])
return 1
