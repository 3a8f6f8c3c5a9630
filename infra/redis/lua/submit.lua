-- Adds a command to its shard's inbox, or answers it from its stored outcome.
--
-- KEYS  1 inbox  2 outcomes of the match  3 refusals of the match  4 archived matches
-- ARGV  1 command id  2 digest (8 bytes)  3 packed command  4 reply channel
--       5 received ms, or '' for TIME  6 most entries the inbox may hold  7 field of the refusals
--       8 most refusals in it  9 bit of the match in KEYS 4
-- Returns  {'known', stored outcome} | {'reused'} | {'archived'} | {'refused-too-often'} | {'full'}
--          | {'queued', entry id, received ms}

if redis.call('GETBIT', KEYS[4], ARGV[9]) == 1 then
  return {'archived'}
end
local known = redis.call('HGET', KEYS[2], ARGV[1])
if known then
  if string.sub(known, 1, 8) ~= ARGV[2] then
    return {'reused'}
  end
  return {'known', known}
end
local refused = redis.call('HGET', KEYS[3], ARGV[7])
if refused and tonumber(refused) >= tonumber(ARGV[8]) then
  return {'refused-too-often'}
end
if redis.call('XLEN', KEYS[1]) >= tonumber(ARGV[6]) then
  return {'full'}
end
local received = time_ms(ARGV[5])
local entry = redis.call('XADD', KEYS[1], '*', 'c', ARGV[3], 't', received, 'd', ARGV[4])
return {'queued', entry, received}
